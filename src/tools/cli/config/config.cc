// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <vector>

#include "common/text.h"
#include "tools/cli/command.h"
#include "tools/cli/config/config_report.h"
#include "tools/cli/interface.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

using ConfigRow = std::array<std::string, 3>;

std::string shown_value(const settings::Resolved& resolved) {
  return resolved.value.empty() ? "-" : printable(resolved.value);
}

std::vector<ConfigRow> rows_of(std::span<const settings::Resolved> settings) {
  std::vector<ConfigRow> rows = {{"setting", "value", "from"}};
  for (const settings::Resolved& resolved : settings) {
    rows.push_back({std::string(resolved.setting.key), shown_value(resolved), resolved.where});
  }
  return rows;
}

// Paths are not broken, so the cells of a row that is too wide are printed below one another.
std::string row_text(const ConfigRow& row, const std::array<int, 3>& widths, int columns) {
  const std::string key = padded(row[0], widths[0] + column_gap);
  const std::string one_line = key + padded(row[1], widths[1] + column_gap) + row[2];
  if (width_of(one_line) <= columns) return one_line + "\n";
  const std::string margin(static_cast<std::size_t>(widths[0] + column_gap), ' ');
  return key + row[1] + "\n" + margin + row[2] + "\n";
}

std::array<int, 3> widths_of(const std::vector<ConfigRow>& rows, int columns) {
  std::array<int, 3> widths{};
  for (const ConfigRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      // A value longer than half a line would push the origins of all others to the edge.
      if (i != 1 || width_of(row[i]) <= columns / 2) {
        widths[i] = std::max(widths[i], width_of(row[i]));
      }
    }
  }
  return widths;
}

}  // namespace

std::string config_text(std::span<const settings::Resolved> settings,
                        std::span<const settings::ConfigFile> files, int columns) {
  const std::vector<ConfigRow> rows = rows_of(settings);
  const std::array<int, 3> widths = widths_of(rows, columns);
  std::string text;
  for (const ConfigRow& row : rows) text += row_text(row, widths, columns);
  text +=
      "\n"
      "Configuration files; the first one that contains a setting applies:\n";
  int path_width = 0;
  for (const settings::ConfigFile& file : files) {
    path_width = std::max(path_width, width_of(file.path));
  }
  for (const settings::ConfigFile& file : files) {
    text += fmt::format("  {}{}\n", padded(file.path, path_width + column_gap),
                        file.found ? "found" : "missing");
  }
  return text;
}

std::string setting_text(const settings::Resolved& resolved, int columns) {
  const settings::Setting& setting = resolved.setting;
  const std::string_view fallback = setting.fallback.empty() ? "none" : setting.fallback;
  const std::string head = fmt::format("{}: ", setting.key);
  return wrap(head, setting.help, 2, columns) +
         fmt::format(
             "\n"
             "  value        {} (from {})\n"
             "  values       {}\n"
             "  default      {}\n"
             "  environment  {}={}\n"
             "  in a file    {} = \"{}\"\n",
             shown_value(resolved), resolved.where, setting.placeholder, fallback,
             settings::environment_name(setting.key), setting.placeholder, setting.key,
             setting.placeholder);
}

namespace {

class ConfigCommand : public Command {
 public:
  std::string name() const override { return "config"; }
  std::string summary() const override {
    return "show every setting, its value, and where the value comes from";
  }
  std::string description() const override {
    return "Shows every setting, its value, and where the value comes from. " +
           std::string(order_of_sources);
  }
  std::string examples() const override {
    return "  huddle config                 all settings\n"
           "  huddle config machine         the meaning and values of one setting\n"
           "  huddle config --json          for programs\n\n"
           "A configuration file contains lines such as\n"
           "  machine = \"/shared/machines/node.toml\"\n"
           "  color = \"never\"\n\n"
           "Exit status: 0 success, 2 no such setting. Unknown and invalid settings are reported "
           "and ignored.";
  }
  void declare(Options& options) override {
    options.setting("machine");
    options.flag("--json", json_, "print everything as JSON");
    options.positional("SETTING", key_, "show only this setting, and its meaning");
    options.complete("SETTING", Value::word, settings::all_keys());
  }
  bool ignores_wrong_settings() const override { return true; }
  ExitCode run(const Context& context) override {
    if (!key_.empty() && !json_) {
      context.console.print(setting_text(chosen(context.settings), context.console.columns));
      return ExitCode::fine;
    }
    const auto files = config_files(settings::process_sources());
    const std::span<const settings::Resolved> shown =
        key_.empty() ? std::span(context.settings) : std::span(&chosen(context.settings), 1);
    context.console.print(json_ ? config_json(shown, files)
                                : config_text(shown, files, context.console.columns));
    return ExitCode::fine;
  }

 private:
  const settings::Resolved& chosen(const std::vector<settings::Resolved>& all) const {
    std::vector<std::string> keys;
    for (const settings::Resolved& resolved : all) {
      if (resolved.setting.key == key_) return resolved;
      keys.emplace_back(resolved.setting.key);
    }
    throw UsageError(fmt::format("unknown setting '{}'{}", key_, did_you_mean(key_, keys)));
  }

  std::string key_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_config_command() { return std::make_unique<ConfigCommand>(); }

}  // namespace huddle::cli

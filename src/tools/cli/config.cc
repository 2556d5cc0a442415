// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "tools/cli/command.h"
#include "tools/cli/config_report.h"
#include "tools/cli/interface.h"

namespace huddle::cli {
namespace {

class ConfigCommand : public Command {
 public:
  std::string name() const override { return "config"; }
  std::string summary() const override { return "every setting, its value, where that came from"; }
  std::string description() const override {
    return "Shows every setting, its value and where that came from. " +
           std::string(order_of_sources);
  }
  std::string examples() const override {
    return "  huddle config                 all settings\n"
           "  huddle config machine         what one setting means and takes\n"
           "  huddle config --json          for programs\n"
           "\n"
           "A configuration file holds lines such as\n"
           "  machine = \"/shared/machines/node.toml\"\n"
           "  color = \"never\"\n"
           "\n"
           "Exit status: 0 fine, 2 no such setting, 3 an unknown or wrong setting was read.";
  }
  void declare(Options& options) override {
    options.setting("machine");
    options.flag("--json", json_, "print everything as JSON");
    options.positional("SETTING", key_, "only this one, and what it means");
    options.complete("SETTING", Value::word, settings::all_keys());
  }
  ExitCode run(const Context& context) override {
    if (!key_.empty() && !json_) {
      context.console.print(setting_text(chosen(context.settings)));
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
    throw UsageError(fmt::format("there is no setting '{}'{}", key_, did_you_mean(key_, keys)));
  }

  std::string key_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_config_command() { return std::make_unique<ConfigCommand>(); }

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/config_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "common/text.h"
#include "tools/cli/table.h"
#include "tools/cli/wrap.h"

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

// A path has to stay in one piece: where a row is too wide, its cells stand below one another.
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
      // A value that is half a line long would push the origin of all others to the edge.
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
  text += "\nFiles, the first one wins:\n";
  int path_width = 0;
  for (const settings::ConfigFile& file : files) {
    path_width = std::max(path_width, width_of(file.path));
  }
  for (const settings::ConfigFile& file : files) {
    text += fmt::format("  {}{}\n", padded(file.path, path_width + column_gap),
                        file.found ? "found" : "not there");
  }
  return text;
}

std::string setting_text(const settings::Resolved& resolved) {
  const settings::Setting& setting = resolved.setting;
  const std::string_view fallback = setting.fallback.empty() ? "none" : setting.fallback;
  return fmt::format(
      "{}: {}\n\n"
      "  value        {} (from {})\n"
      "  takes        {}\n"
      "  default      {}\n"
      "  environment  {}={}\n"
      "  in a file    {} = \"{}\"\n",
      setting.key, setting.help, shown_value(resolved), resolved.where, setting.placeholder,
      fallback, settings::environment_name(setting.key), setting.placeholder, setting.key,
      setting.placeholder);
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where settings are read from in this process.
#include <unistd.h>

#include <filesystem>

#include "common/settings/settings.h"

namespace huddle::settings {
namespace {

constexpr std::string_view site_file = "/etc/huddle/config.toml";

// XDG's rule: a relative XDG_CONFIG_HOME is as good as none.
std::string user_file(const std::vector<std::string>& environment) {
  const std::string config_home = value_of(environment, "XDG_CONFIG_HOME");
  if (config_home.starts_with('/')) return config_home + "/huddle/config.toml";
  const std::string home = value_of(environment, "HOME");
  return home.starts_with('/') ? home + "/.config/huddle/config.toml" : std::string();
}

}  // namespace

std::string value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& line : environment) {
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == '=') {
      return line.substr(name.size() + 1);
    }
  }
  return {};
}

Sources sources_from(std::vector<std::string> environment) {
  Sources sources;
  sources.user_file = user_file(environment);
  sources.site_file = site_file;
  sources.environment = std::move(environment);
  return sources;
}

Sources process_sources() {
  std::vector<std::string> lines;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line)
    lines.emplace_back(*line);
  return sources_from(std::move(lines));
}

std::vector<ConfigFile> config_files(const Sources& sources) {
  std::vector<ConfigFile> files;
  for (const std::string& path : {sources.user_file, sources.site_file}) {
    std::error_code ignored;
    if (!path.empty()) files.push_back({path, std::filesystem::exists(path, ignored)});
  }
  return files;
}

}  // namespace huddle::settings

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Combines the sources of settings, from the lowest precedence to the highest.

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cassert>
#include <filesystem>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/settings/settings.h"
#include "common/text.h"

namespace huddle::settings {

namespace {

constexpr std::string_view site_file = "/etc/huddle/config.toml";

// The XDG specification requires that a relative XDG_CONFIG_HOME is ignored.
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

namespace {

constexpr std::string_view environment_prefix = "HUDDLE_";
constexpr std::string_view environment_switch = "HUDDLE";

// Environment modules set these variables to describe an installation. They are no settings.
constexpr std::array<std::string_view, 6> names_of_modules = {
    "HUDDLE_ROOT", "HUDDLE_HOME", "HUDDLE_DIR", "HUDDLE_PREFIX", "HUDDLE_BASE", "HUDDLE_VERSION"};

std::vector<Resolved> defaults() {
  std::vector<Resolved> settings;
  for (const Setting& setting : table()) {
    settings.push_back({setting, std::string(setting.fallback), Layer::built_in, "default"});
  }
  return settings;
}

Resolved* find_key(std::vector<Resolved>& settings, std::string_view key) {
  const auto it = std::find_if(settings.begin(), settings.end(),
                               [&](const Resolved& r) { return r.setting.key == key; });
  return it == settings.end() ? nullptr : &*it;
}

struct Reports {
  const Report& error;
  const Report& warning;
};

// Runs `apply` and passes the message of its error to `report`. Calls `report` after the catch
// block, because `report` may throw.
template <class Apply>
void reporting(const Report& report, Apply apply) {
  std::string mistake;
  try {
    apply();
    return;
  } catch (const Error& error) {
    mistake = error.what();
  }
  report(mistake);
}

// Returns the environment names without their common prefix, which would make the edit distance of
// any two of them small relative to their length.
std::vector<std::string> all_environment_tails() {
  std::vector<std::string> tails;
  for (const Setting& setting : table()) {
    const std::string name = environment_name(setting.key);
    if (name.starts_with(environment_prefix)) {
      tails.push_back(name.substr(environment_prefix.size()));
    }
  }
  return tails;
}

struct FilePlace {
  std::string file;
  std::string home;  // of the user who reads it; may be empty
};

// Expands "~", and resolves the path of an input file relative to the configuration file's folder.
std::string from_folder_of(const FilePlace& place, const Setting& setting,
                           const std::string& value) {
  const bool is_output = setting.kind == Kind::output && value.ends_with(output_suffix);
  if (setting.kind != Kind::machine && !is_output) return plain_value(setting, value);
  if (value.starts_with("~/") && !place.home.empty()) return place.home + value.substr(1);
  if (is_output || !is_toml_path(value) || value.front() == '/') return value;
  return (std::filesystem::path(place.file).parent_path() / value).lexically_normal().string();
}

void apply_entry(std::vector<Resolved>& settings, const FilePlace& from, Layer layer,
                 const FileEntry& entry) {
  const std::string place = fmt::format("{}:{}", from.file, entry.line);
  Resolved* known = find_key(settings, entry.key);
  if (known == nullptr) {
    throw InputError(fmt::format("{}: unknown setting '{}'{}", place, entry.key,
                                 did_you_mean(entry.key, all_keys())));
  }
  if (!entry.text) {
    throw InputError(fmt::format("{}: the value of {} must be a string in quotes ({} = \"{}\")",
                                 place, entry.key, entry.key, known->setting.placeholder));
  }
  check_value(known->setting, *entry.text, fmt::format("{}: {}", place, entry.key));
  known->value = from_folder_of(from, known->setting, *entry.text);
  known->layer = layer;
  known->where = place;
}

void apply_file(std::vector<Resolved>& settings, const FilePlace& from, Layer layer,
                const Reports& reports) {
  if (from.file.empty()) return;
  std::vector<FileEntry> entries;
  std::string unreadable;
  reporting(reports.error, [&] {
    try {
      entries = read_settings_file(from.file);
    } catch (const FailureError& error) {
      unreadable = error.what();
    }
  });
  if (!unreadable.empty()) reports.warning(unreadable);
  for (const FileEntry& entry : entries) {
    reporting(reports.error, [&] { apply_entry(settings, from, layer, entry); });
  }
}

// Returns null if the name is not that of a setting.
Resolved* named_by_environment(std::vector<Resolved>& settings, const std::string& name) {
  const auto it = std::find_if(settings.begin(), settings.end(), [&](const Resolved& resolved) {
    return environment_name(resolved.setting.key) == name;
  });
  return it == settings.end() ? nullptr : &*it;
}

void warn_of_variable(const std::string& name, const Report& warning) {
  if (std::find(names_of_modules.begin(), names_of_modules.end(), name) != names_of_modules.end()) {
    return;
  }
  const std::string guess =
      nearest(name.substr(environment_prefix.size()), all_environment_tails());
  warning(fmt::format("{} is not a setting{}", name,
                      guess.empty()
                          ? "; 'huddle config' lists all settings"
                          : fmt::format("; did you mean {}{}?", environment_prefix, guess)));
}

void apply_line(std::vector<Resolved>& settings, const std::string& line, const Report& warning) {
  const std::string name = line.substr(0, line.find('='));
  if (name != environment_switch && !name.starts_with(environment_prefix)) return;
  Resolved* const resolved = named_by_environment(settings, name);
  if (resolved == nullptr) return warn_of_variable(name, warning);
  const std::string value = line.substr(std::min(line.size(), name.size() + 1));
  if (value.empty()) return;
  check_value(resolved->setting, value, name);
  resolved->value = plain_value(resolved->setting, value);
  resolved->layer = Layer::environment;
  resolved->where = name;
}

}  // namespace

std::vector<Resolved> resolve(const Sources& sources, const Report& error, const Report& warning) {
  const Reports reports{error, warning};
  std::vector<Resolved> settings = defaults();
  const std::string home = value_of(sources.environment, "HOME");
  apply_file(settings, {sources.site_file, home}, Layer::site_file, reports);
  apply_file(settings, {sources.user_file, home}, Layer::user_file, reports);
  for (const std::string& line : sources.environment) {
    reporting(error, [&] { apply_line(settings, line, warning); });
  }
  return settings;
}

std::vector<Resolved> resolve(const Sources& sources, const Report& report) {
  return resolve(sources, report, report);
}

std::vector<Resolved> resolve(const Sources& sources) {
  return resolve(
      sources, [](const std::string& mistake) { throw InputError(mistake); },
      [](const std::string&) {});
}

const Resolved& find(std::span<const Resolved> settings, std::string_view key) {
  const auto it = std::find_if(settings.begin(), settings.end(),
                               [&](const Resolved& r) { return r.setting.key == key; });
  assert(it != settings.end());
  return *it;
}

void override_by_flag(std::vector<Resolved>& settings, std::string_view key,
                      const std::string& value) {
  Resolved* known = find_key(settings, key);
  assert(known != nullptr);
  try {
    check_value(known->setting, value, flag_name(key));
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
  known->value = plain_value(known->setting, value);
  known->layer = Layer::command_line;
  known->where = flag_name(key);
}

}  // namespace huddle::settings

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What huddle can be told, in one table: command line help, environment, configuration file and
// `huddle config` all follow from it.
//
// Order: command line > HUDDLE_* > $XDG_CONFIG_HOME/huddle/config.toml > /etc/huddle/config.toml >
// default.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::settings {

struct Setting {
  std::string_view key;          // in the file: "machine"; the environment name follows from it
  std::string_view placeholder;  // what a value looks like: "FILE", "auto|always|never"
  std::string_view fallback;     // the default, as text
  std::string_view help;         // one line
};

// Every setting there is, in the order in which people read them.
std::span<const Setting> table();
// "machine" -> "HUDDLE_MACHINE".
std::string environment_name(std::string_view key);

enum class Layer { command_line, environment, user_file, site_file, built_in };

struct Resolved {
  Setting setting;
  std::string value;
  Layer layer = Layer::built_in;
  std::string where;  // "--machine", "HUDDLE_MACHINE", "/etc/huddle/config.toml:3", "default"
};

// Where each layer is read from; tests give their own.
struct Sources {
  std::vector<std::string> environment;  // "NAME=value" lines; only HUDDLE_* matter
  std::string user_file;                 // may not exist
  std::string site_file;
};
Sources process_sources();

// Every setting with its value and its origin. Throws InputError for an unknown key or HUDDLE_*
// name (naming the nearest), for a damaged file (with file and line), and for a value that the
// setting does not take.
std::vector<Resolved> resolve(const Sources& sources);

// pre: the key is in the table.
const Resolved& find(std::span<const Resolved> settings, std::string_view key);

// A flag given on the command line wins over whatever was resolved.
void override_by_flag(std::vector<Resolved>& settings, std::string_view key,
                      const std::string& value);

}  // namespace huddle::settings

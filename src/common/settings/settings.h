// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The settings of huddle. One table defines the command-line help, the environment variables, the
// keys of configuration files and the output of `huddle config`.
//
// Precedence: command line > HUDDLE_* > $XDG_CONFIG_HOME/huddle/config.toml >
// /etc/huddle/config.toml > default.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::settings {

// The algorithms of one collective, by the names that `huddle explain` prints. The algorithms
// themselves are defined in higher modules; a test checks that both lists are equal.
struct AlgorithmWords {
  std::string_view operation;
  std::span<const std::string_view> algorithms;
  // True if a choice may be limited to a range of sizes. False for a barrier, for collectives such
  // as alltoallv, whose sizes are not known on all ranks, and between nodes.
  bool has_size = true;
};

// Returns the algorithms within a node.
std::span<const AlgorithmWords> algorithm_words();
// Returns the algorithms between nodes. Reductions among them have an order that does not depend on
// timing.
std::span<const AlgorithmWords> schedule_words();

// One key and value of a configuration file, before the key is looked up in the table.
struct FileEntry {
  std::string key;
  std::optional<std::string> text;  // empty if the value is not a string
  int line = 0;
};

// Returns the entries in the order of the file, or none if the file does not exist. Throws
// FailureError if it cannot be read, and InputError if it is not TOML.
std::vector<FileEntry> read_settings_file(const std::string& path);

// The type of a value.
enum class Kind {
  machine,  // path of a machine file, or the name of one in a searched folder; in a configuration
            // file a relative path is relative to that file's folder, and ~/ is the user's home
  word,     // one of the words that the placeholder lists
  toggle,   // on, off and, if the placeholder lists it, auto; 1 and 0 mean on and off
  output,   // one of the words that the placeholder lists, or the name of a file, which ends in
            // .json; in a configuration file, ~/ is the user's home
  count,    // an integer of at least `least` or, if the placeholder lists it, auto
  size,     // bytes: 64K, 1.5G
  list,     // some of `names`, separated by commas, in lower case or spelled as in MPI; a leading ^
            // means all but these
  forcing,  // algorithms for collectives in the syntax of common/forced_choice.h
};

// The end of a file name by which a value of Kind::output differs from a word.
inline constexpr std::string_view output_suffix = ".json";

struct Setting {
  std::string_view key;  // in configuration files: "machine"; see also environment_name()
  Kind kind = Kind::word;
  std::string_view placeholder;  // syntax of a value: "NAME|FILE", "auto|always|never"
  std::string_view fallback;     // the default, as text
  std::string_view help;         // one line
  // Whether all commands accept it as a flag; otherwise only those that declare the flag do.
  bool flag_everywhere = false;
  std::span<const std::string_view> names = {};  // valid elements of a list
  std::span<const AlgorithmWords> (*algorithms)() = nullptr;
  int least = 0;  // smallest valid count
};

// Returns all settings in the order in which they are displayed.
std::span<const Setting> table();
// Requires: the key is in the table.
const Setting& setting_named(std::string_view key);
std::vector<std::string> all_keys();
// Returns the environment variable of a setting: HUDDLE_MACHINE for "machine", and HUDDLE for the
// main switch, "huddle".
std::string environment_name(std::string_view key);
// Returns the flag of a setting: "--machine" for "machine".
std::string flag_name(std::string_view key);

// Throws an InputError that starts with `where` if the value is invalid for the setting.
void check_value(const Setting& setting, std::string_view value, const std::string& where);
// Returns the canonical form of a value: "on" for "1" in a toggle, "bcast" for "MPI_Bcast" in a
// list.
// Requires: the value is valid.
std::string plain_value(const Setting& setting, std::string_view value);

enum class Layer { command_line, environment, user_file, site_file, built_in };
inline constexpr std::array<std::string_view, 5> layer_names = {"flag", "environment", "user file",
                                                                "site file", "default"};

struct Resolved {
  Setting setting;
  std::string value;
  Layer layer = Layer::built_in;
  std::string where;  // "--machine", "HUDDLE_MACHINE", "/etc/huddle/config.toml:3", "default"
};

// The inputs from which settings are resolved; tests pass their own.
struct Sources {
  std::vector<std::string> environment;  // "NAME=value" lines; only HUDDLE_* and HOME are used
  std::string user_file;                 // may not exist; empty if its path is unknown
  std::string site_file;
};
Sources process_sources();
// Returns the sources for an environment of "NAME=value" lines. XDG_CONFIG_HOME and HOME determine
// the path of the user's file.
Sources sources_from(std::vector<std::string> environment);

// Returns the value of a variable in an environment of "NAME=value" lines; empty if it is not set.
std::string value_of(const std::vector<std::string>& environment, std::string_view name);

// A possible configuration file.
struct ConfigFile {
  std::string path;
  bool found = false;
};
// Returns the configuration files by descending precedence, including those that do not exist.
std::vector<ConfigFile> config_files(const Sources& sources);

// Returns every setting with its value and its origin. An empty environment value counts as not
// set. Throws InputError for an unknown key of a file (with the nearest known one), for an invalid
// file (with file and line), and for an invalid value. Ignores unknown HUDDLE_* names and files
// that cannot be read.
std::vector<Resolved> resolve(const Sources& sources);
// Like resolve() above, for callers that must continue: passes the message of each such error to
// `error` and ignores the entry. Ignores a file as a whole if it cannot be parsed. Passes a message
// about each unknown HUDDLE_* name and each file that cannot be read to `warning`.
using Report = std::function<void(const std::string& mistake)>;
std::vector<Resolved> resolve(const Sources& sources, const Report& error, const Report& warning);
// Like resolve() above, with one function for errors and warnings.
std::vector<Resolved> resolve(const Sources& sources, const Report& report);

// Environment variable that a program sets for its children after it has reported the errors in the
// settings, so that the children do not report them again.
inline constexpr std::string_view reported_variable = "_HUDDLE_SETTINGS_REPORTED";

// Requires: the key is in the table.
const Resolved& find(std::span<const Resolved> settings, std::string_view key);

// Replaces a resolved value by one from the command line. Throws UsageError if the value is
// invalid.
// Requires: the key is in the table.
void override_by_flag(std::vector<Resolved>& settings, std::string_view key,
                      const std::string& value);

}  // namespace huddle::settings

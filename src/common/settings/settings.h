// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What huddle can be told, in one table: command line help, environment, configuration file and
// `huddle config` all follow from it.
//
// Order: command line > HUDDLE_* > $XDG_CONFIG_HOME/huddle/config.toml > /etc/huddle/config.toml >
// default.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::settings {

// The algorithms of each collective, by the names that `huddle explain` prints. They are described
// far above this room; a test holds that the lists are the same.
struct AlgorithmWords {
  std::string_view operation;
  std::span<const std::string_view> algorithms;
  // Whether a size tells such calls apart: a barrier has none, and of what only pairs of ranks know
  // no size is common to all.
  bool has_size = true;
};

// In a node.
std::span<const AlgorithmWords> algorithm_words();
// Between nodes: those that keep to one association.
std::span<const AlgorithmWords> schedule_words();

// A configuration file as lines of key and value; what the keys mean is settled elsewhere.
struct FileEntry {
  std::string key;
  std::optional<std::string> text;  // empty: the value is a number, a table, ... and not text
  int line = 0;
};

// Entries in the order of the file; nothing when there is no such file. Throws InputError for one
// that cannot be read or is not TOML.
std::vector<FileEntry> read_settings_file(const std::string& path);

// What a value may be.
enum class Kind {
  machine,  // a machine file, or the name of one that lies where they are looked for; in a
            // configuration file a relative path counts from that file's folder, and ~/ is the home
            // of whoever reads it
  word,     // one of the words that the placeholder lists
  toggle,   // on, off and, where the placeholder has it, auto; 1 and 0 are taken for on and off
  count,    // a whole number, `least` or more; where the placeholder has it, auto
  size,     // bytes: 64K, 1.5G
  list,  // some of `names`, separated by commas, in small letters or as MPI spells them; ^ before
         // the first: all but these
  forcing,  // some of `algorithms` for collectives, as common/forced_choice.h has them
};

struct Setting {
  std::string_view key;  // in the file: "machine"; the environment name follows from it
  Kind kind = Kind::word;
  std::string_view placeholder;  // what a value looks like: "NAME|FILE", "auto|always|never"
  std::string_view fallback;     // the default, as text
  std::string_view help;         // one line
  // Every command takes it as a flag; otherwise only the commands that declare the flag themselves.
  bool flag_everywhere = false;
  std::span<const std::string_view> names = {};  // what a list may hold
  std::span<const AlgorithmWords> (*algorithms)() = nullptr;
  int least = 0;  // that a count may be
};

// Every setting there is, in the order in which people read them.
std::span<const Setting> table();
// pre: the key is in the table.
const Setting& setting_named(std::string_view key);
std::vector<std::string> all_keys();
// "machine" -> "HUDDLE_MACHINE"; the switch of the whole, "huddle", is HUDDLE itself.
std::string environment_name(std::string_view key);
// "machine" -> "--machine".
std::string flag_name(std::string_view key);

// Throws InputError, opening with `where`, when the setting does not take this value.
void check_value(const Setting& setting, std::string_view value, const std::string& where);
// The one way of writing a value that may be written in several: "1" is "on" for a toggle,
// "MPI_Bcast" is "bcast" in a list.
// pre: the setting takes it.
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

// Where each layer is read from; tests give their own.
struct Sources {
  std::vector<std::string> environment;  // "NAME=value" lines; only HUDDLE_* and HOME matter
  std::string user_file;                 // may not exist; empty: no place for one is known
  std::string site_file;
};
Sources process_sources();
// From an environment of "NAME=value" lines: XDG_CONFIG_HOME and HOME say where the user's file is.
Sources sources_from(std::vector<std::string> environment);

// What an environment of "NAME=value" lines gives this variable; empty where it is not there.
std::string value_of(const std::vector<std::string>& environment, std::string_view name);

// The configuration files in the order in which they win, whether they are there or not.
struct ConfigFile {
  std::string path;
  bool found = false;
};
std::vector<ConfigFile> config_files(const Sources& sources);

// Returns every setting with its value and its origin. An empty environment value counts as not
// set. Throws InputError for an unknown key or HUDDLE_* name (naming the nearest), for a damaged
// file (with file and line), and for a value that the setting does not take.
std::vector<Resolved> resolve(const Sources& sources);
// The same for callers that must go on: passes each such mistake to `report`, as a sentence, and
// ignores the entry. A file that cannot be read or parsed is ignored as a whole.
using Report = std::function<void(const std::string& mistake)>;
std::vector<Resolved> resolve(const Sources& sources, const Report& report);

// Set to a process whose settings were resolved, and mistakes in them reported, by the program that
// started it: it reports none of them again.
inline constexpr std::string_view reported_variable = "_HUDDLE_SETTINGS_REPORTED";

// pre: the key is in the table.
const Resolved& find(std::span<const Resolved> settings, std::string_view key);

// A flag given on the command line wins over whatever was resolved. Throws UsageError for a value
// that the setting does not take. pre: the key is in the table.
void override_by_flag(std::vector<Resolved>& settings, std::string_view key,
                      const std::string& value);

}  // namespace huddle::settings

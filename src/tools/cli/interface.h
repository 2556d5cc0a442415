// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The options of the program and its commands as data. The parser interprets a command line by the
// same declarations; manual pages and completions are generated from these data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/settings/settings.h"
#include "tools/cli/command.h"

namespace huddle::cli {

// The program's help text above and below the list of commands.
extern const std::string_view program_description;
extern const std::string_view program_footer;
// The sources of settings in order of precedence.
extern const std::string_view order_of_sources;

// Options of the program and of every command.
inline constexpr const char* help_flag = "-h,--help";
inline constexpr const char* help_text = "print this help";
inline constexpr const char* version_flag = "-V,--version";
inline constexpr const char* version_text = "print the version";
inline constexpr const char* options_heading = "Options";
inline constexpr const char* appearance_heading = "Appearance of the output";

// Returns the help of a number with its range.
std::string help_of_number(const std::string& help, int least, int most);

struct Argument {
  std::vector<std::string> names;  // "-n" and "--ranks"; for a positional argument "SETTING"
  std::string placeholder = {};    // empty: takes no value
  std::string help;
  Value value = Value::text;
  std::vector<std::string> words =
      {};  // possible values of a Value::word, or items of a Value::list
  int values = 0;
  bool value_optional = false;
  bool is_setting = false;

  bool goes_by(std::string_view name) const;
};

// A command in the list of its parent.
struct Listed {
  std::string name;
  std::string summary;
};

struct Interface {
  std::string
      // `name` is the command as typed: "topo", "bench engine"; for the program "huddle".
      name;
  std::string summary;
  std::string description;
  std::string footer;
  std::vector<Argument> positionals = {};
  std::vector<Argument> options;
  std::vector<Argument> appearance = {};  // the settings that every command takes
  std::optional<Argument> rest = {};      // another command with all its words
  std::vector<Listed> subcommands = {};
  std::vector<std::pair<std::string, std::string>> exclusions = {};
};

// Its own options and those for the appearance of output.
std::vector<Argument> all_options(const Interface& interface);

// The program and its commands in the order of the help; subcommands follow their parent.
struct ProgramInterface {
  Interface program;
  std::vector<Interface> commands;
};
ProgramInterface program_interface();

}  // namespace huddle::cli

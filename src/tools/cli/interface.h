// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the program and its commands take, as a table. The parser reads a command line by what
// commands declare; whoever describes the program (manual pages, completions) reads the same here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/settings/settings.h"
#include "tools/cli/command.h"

namespace huddle::cli {

// What the program says of itself, above and below its commands.
extern const std::string_view program_description;
extern const std::string_view program_footer;
// Where settings come from, in the order in which they win.
extern const std::string_view order_of_sources;

// What every command takes, and the program itself.
inline constexpr const char* help_flag = "-h,--help";
inline constexpr const char* help_text = "this help";
inline constexpr const char* version_flag = "-V,--version";
inline constexpr const char* version_text = "the version";
inline constexpr const char* options_heading = "Options";
inline constexpr const char* appearance_heading = "What output looks like";

// The help of a number, with its bounds.
std::string help_of_number(const std::string& help, int least, int most);

struct Argument {
  std::vector<std::string> names;  // "-n" and "--ranks"; of a positional one "SETTING"
  std::string placeholder = {};    // empty: takes no value
  std::string help;
  Value value = Value::text;
  std::vector<std::string> words = {};  // what a Value::word, or an item of a Value::list, can be
  int values = 0;
  bool value_optional = false;
  bool is_setting = false;

  bool goes_by(std::string_view name) const;
};

// A command as the one above it lists it.
struct Listed {
  std::string name;
  std::string summary;
};

struct Interface {
  std::string
      name;  // of the command, as it is typed: "topo", "bench engine"; of the program "huddle"
  std::string summary;
  std::string description;
  std::string footer;
  std::vector<Argument> positionals = {};
  std::vector<Argument> options;
  std::vector<Argument> appearance = {};  // the settings that every command takes
  std::optional<Argument> rest = {};      // another command, and all its words
  std::vector<Listed> subcommands = {};
  std::vector<std::pair<std::string, std::string>> exclusions = {};
};

// Its own, and those of what output looks like.
std::vector<Argument> all_options(const Interface& interface);

// The program itself, and its commands in the order in which help lists them, those below a command
// behind it.
struct ProgramInterface {
  Interface program;
  std::vector<Interface> commands;
};
ProgramInterface program_interface();

}  // namespace huddle::cli

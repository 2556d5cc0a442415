// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// fish: a `complete` an option, each with the place on the line where it is proposed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "manual/completions.h"

namespace huddle::manual {
namespace {

using cli::Argument;
using cli::Interface;

constexpr std::string_view opening = R"(# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Completion of huddle in fish. Made while huddle was built.

)";

constexpr std::string_view reader = R"(
# The command on the line, how many words of its own stand behind it, and the last option with how
# many values it still wants.
function __huddle_place
    set -l command
    set -l behind 0
    set -l option
    set -l values 0
    for word in (commandline -opc)[2..]
        if test $values -gt 0
            set values (math $values - 1)
        else if string match -q -- '-*' $word
            set -- option $word
            set values (__huddle_values "$command" $word)
        else if test -z "$command"
            set command $word
        else
            set behind (math $behind + 1)
        end
    end
    echo "$command $behind $option $values"
end

# Whether this is the command, and one of these numbers (any: none given) the words behind it.
function __huddle_at --argument-names command
    set -l place (string split ' ' -- (__huddle_place))
    test "$place[1]" = "$command"; or return 1
    test (count $argv) = 1; or contains -- $place[2] $argv[2..]
end

# Whether it is this command's option that has one value and wants a second.
function __huddle_owes --argument-names command option
    set -l place (string split ' ' -- (__huddle_place))
    test "$place[1] $place[3] $place[4]" = "$command $option 1"
end

# Some of these words, by commas; ^ in front: all but these.
function __huddle_list
    set -l before (string match -r -- '^\^?(?:[^,]*,)*' (string replace -r -- '^--[^=]*=' '' (commandline -ct)))
    printf '%s\n' $before$argv
end

# The machines that huddle knows by name: the words with which lines of the list begin.
function __huddle_machines
    command huddle topo --list-machines 2>/dev/null | string replace -rf -- '^(\S+)\s+' '$1\t'
end

complete -c huddle -f
)";

// Within single quotes.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// What a value may be; files are proposed only where they are one.
std::string action(const Argument& argument) {
  switch (argument.value) {
    case cli::Value::text:
      return "-x";
    case cli::Value::word:
      return fmt::format("-x -a {}", quoted(fmt::format("{}", fmt::join(argument.words, " "))));
    case cli::Value::list:
      return fmt::format("-x -a '(__huddle_list {})'", fmt::join(argument.words, " "));
    case cli::Value::machine:
      return "-r -F -a '(__huddle_machines)'";
    case cli::Value::file:
      return "-r -F";
    case cli::Value::folder:
      return "-x -a '(__fish_complete_directories)'";
    case cli::Value::program:
      return "-x -a '(__fish_complete_command)'";
  }
  return "-x";
}

std::string names_of(const Argument& option) {
  std::vector<std::string> words;
  for (const std::string& name : option.names) {
    words.push_back(name.starts_with("--") ? "-l " + name.substr(2) : "-s " + name.substr(1));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string option_lines(const std::string& place, const Interface& interface) {
  std::string text;
  for (const Argument& option : all_options(interface)) {
    text += fmt::format("complete -c huddle -n {} {}{} -d {}\n", quoted(place), names_of(option),
                        option.values == 0 ? "" : " " + action(option), quoted(option.help));
  }
  return text;
}

std::vector<std::string> names_with_values(const Interface& command) {
  std::vector<std::string> names;
  for (const Argument& option : all_options(command)) {
    if (option.values > 0) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// Another command: its own completion from its first word on.
std::string rest_lines(const Interface& command) {
  return fmt::format(
      "complete -c huddle -n '__huddle_at {}' -x -a '(__fish_complete_subcommand --fcs-skip=2 "
      "{})'\n",
      command.name, fmt::join(names_with_values(command), " "));
}

std::string command_lines(const Interface& command) {
  const std::string here = "__huddle_at " + command.name;
  // Behind the first word of another command, options are that command's.
  const std::string options_here = here + (command.rest ? " 0" : "");
  std::string text = option_lines(options_here, command);
  for (const Argument& option : command.options) {
    if (option.values < 2) continue;
    text += fmt::format("complete -c huddle -n '__huddle_owes {} {}' {}\n", command.name,
                        option.names.front(), action(option));
  }
  for (std::size_t i = 0; i < command.positionals.size(); ++i) {
    if (command.positionals[i].value == cli::Value::text) continue;
    text +=
        fmt::format("complete -c huddle -n '{} {}' {}\n", here, i, action(command.positionals[i]));
  }
  return text + (command.rest ? rest_lines(command) : "");
}

// How many words an option takes behind it.
std::string values_table(const cli::ProgramInterface& all) {
  std::string text =
      "# How many values option $argv[2] of command $argv[1] takes from the words behind it.\n"
      "function __huddle_values\n    switch \"$argv[1] $argv[2]\"\n";
  const auto rule = [&text](const std::string& command, const std::vector<Argument>& options) {
    for (const Argument& option : options) {
      for (const std::string& name : option.names) {
        if (option.values == 0) continue;
        text += fmt::format("        case '{} {}'\n            echo {}\n", command, name,
                            option.values);
      }
    }
  };
  for (const Interface& command : all.commands) rule(command.name, command.options);
  rule("*", all.program.appearance);
  return text + "        case '*'\n            echo 0\n    end\nend\n";
}

}  // namespace

std::string fish_completion(const cli::ProgramInterface& all) {
  std::string text = std::string(opening) + values_table(all) + std::string(reader);
  text += option_lines("__huddle_at \"\"", all.program);
  for (const Interface& command : all.commands) {
    text += fmt::format("complete -c huddle -n '__huddle_at \"\"' -a {} -d {}\n", command.name,
                        quoted(command.summary));
  }
  for (const Interface& command : all.commands) text += command_lines(command);
  return text;
}

}  // namespace huddle::manual

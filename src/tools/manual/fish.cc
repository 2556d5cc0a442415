// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// fish completions: a `complete` command per option, with the condition under which it is proposed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/manual/manual.h"

namespace huddle::manual {
namespace {

using cli::Argument;
using cli::Interface;

constexpr std::string_view fish_opening = R"(# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Completion of huddle in fish. Made while huddle was built.

)";

constexpr std::string_view fish_reader = R"(
# The command on the line, and how many words of its own stand behind it.
function __huddle_place
    set -l command
    set -l behind 0
    set -l values 0
    for word in (commandline -opc)[2..]
        if test $values -gt 0
            set values (math $values - 1)
        else if string match -q -- '-*' $word
            set values (__huddle_values "$command" $word)
        else if test $behind = 0; and contains -- $word (__huddle_commands "$command")
            set command (string trim "$command $word")
        else
            set behind (math $behind + 1)
        end
    end
    printf '%s\n' "$command" $behind
end

# Whether this is the command, and one of these numbers (any: none given) the words behind it.
function __huddle_at --argument-names command
    set -l place (__huddle_place)
    test "$place[1]" = "$command"; or return 1
    test (count $argv) = 1; or contains -- $place[2] $argv[2..]
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

// Quotes a word in single quotes.
std::string fish_word(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// Returns the possible values of an argument. Files are proposed only for arguments that are files.
std::string fish_action(const Argument& argument) {
  switch (argument.value) {
    case cli::Value::text:
      return "-x";
    case cli::Value::word:
      return fmt::format("-x -a {}", fish_word(fmt::format("{}", fmt::join(argument.words, " "))));
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

// Returns the condition that this command is being completed.
std::string at(std::string_view command) { return fmt::format("__huddle_at \"{}\"", command); }

std::string option_lines(const std::string& place, const Interface& interface) {
  std::string text;
  for (const Argument& option : all_options(interface)) {
    text +=
        fmt::format("complete -c huddle -n {} {}{} -d {}\n", fish_word(place), names_of(option),
                    option.values == 0 ? "" : " " + fish_action(option), fish_word(option.help));
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

// Returns the line that completes a command line given after this command, with that command's own
// completion.
std::string rest_lines(const Interface& command) {
  return fmt::format(
      "complete -c huddle -n '{}' -x -a '(__fish_complete_subcommand --fcs-skip=2 {})'\n",
      at(command.name), fmt::join(names_with_values(command), " "));
}

// Returns the lines that propose the subcommands of a command.
std::string commands_lines(std::string_view name, const Interface& interface) {
  std::string text;
  for (const cli::Listed& below : interface.subcommands) {
    text += fmt::format("complete -c huddle -n '{} 0' -a {} -d {}\n", at(name), below.name,
                        fish_word(below.summary));
  }
  return text;
}

std::string command_lines(const Interface& command) {
  const std::string here = at(command.name);
  // After the first word of another command line, options belong to that command.
  const std::string options_here = here + (command.rest ? " 0" : "");
  std::string text = option_lines(options_here, command);
  text += commands_lines(command.name, command);
  for (std::size_t i = 0; i < command.positionals.size(); ++i) {
    if (command.positionals[i].value == cli::Value::text) continue;
    text += fmt::format("complete -c huddle -n '{} {}' {}\n", here, i,
                        fish_action(command.positionals[i]));
  }
  return text + (command.rest ? rest_lines(command) : "");
}

// Returns a fish function that prints the number of words that an option takes.
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

// Returns a fish function that prints the names of a command's subcommands.
std::string commands_table(const cli::ProgramInterface& all) {
  std::string text =
      "\n# The commands below this one.\n"
      "function __huddle_commands\n    switch \"$argv[1]\"\n";
  const auto rule = [&text](std::string_view name, const Interface& interface) {
    if (interface.subcommands.empty()) return;
    text += fmt::format("        case '{}'\n            printf '%s\\n'", name);
    for (const cli::Listed& below : interface.subcommands) text += " " + below.name;
    text += "\n";
  };
  rule("", all.program);
  for (const Interface& command : all.commands) rule(command.name, command);
  return text + "    end\nend\n";
}

}  // namespace

std::string fish_completion(const cli::ProgramInterface& all) {
  std::string text = std::string(fish_opening) + values_table(all) + commands_table(all) +
                     std::string(fish_reader);
  text += option_lines(at(""), all.program) + commands_lines("", all.program);
  for (const Interface& command : all.commands) text += command_lines(command);
  return text;
}

}  // namespace huddle::manual

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// bash completions: tables in the form of functions, and the code that completes a command line
// with them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/manual/manual.h"

namespace huddle::manual {
namespace {

using cli::Argument;
using cli::Interface;

constexpr std::string_view bash_opening = R"bash(# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
# shellcheck shell=bash
#
# Completion of huddle in bash. Made while huddle was built.

)bash";

constexpr std::string_view bash_reader = R"bash(
# The machines that huddle knows by name: the words with which lines of the list begin.
_huddle_machines() { command huddle topo --list-machines 2>/dev/null | sed 's/ .*//'; }

# Proposes what a value of this kind can be: KIND WORDS CURRENT
_huddle_propose() {
  local before
  case $1 in
    word | command) mapfile -t COMPREPLY < <(compgen -W "$2" -- "$3") ;;
    list) # some of the words, by commas; ^ in front: all but these
      before=${3%"${3##*[,^]}"}
      compopt -o nospace
      mapfile -t COMPREPLY < <(compgen -P "$before" -W "$2" -- "${3##*[,^]}") ;;
    program) mapfile -t COMPREPLY < <(compgen -c -- "$3") && compopt -o default ;;
    machine) # a name, or a file
      mapfile -t COMPREPLY < <(compgen -W "$(_huddle_machines)" -- "$3"; compgen -f -X '!*.toml' -- "$3")
      compopt -o filenames -o default ;;
    file) compopt -o default ;;
    folder) compopt -o dirnames ;;
  esac
}

# Another command, whose first word is at this place: what that one takes, where bash-completion knows.
_huddle_other_command() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif [ "$1" = "$COMP_CWORD" ]; then
    _huddle_propose program '' "$2"
  else
    _huddle_propose file '' "$2"
  fi
}

# Whether this word is the name of a command below this one, whose next place is this.
_huddle_is_command() {
  local kind words
  _huddle_positional "$1" "$2"
  [[ $kind = command && " $words " = *" $3 "* ]]
}

_huddle() {
  local current=$2 command='' kind='' words='' word
  local -i count=0 position=0 i
  [ "$current" != = ] || current=''
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [ "$word" = = ]; then
      continue
    elif ((count > 0)); then
      count+=-1
    elif [[ $word = -* ]]; then
      _huddle_option "$command" "$word"
    elif _huddle_is_command "$command" "$position" "$word"; then
      command=${command:+$command }$word
    else
      _huddle_positional "$command" "$position"
      [ "$kind" != rest ] || { _huddle_other_command "$i" "$current"; return; }
      position+=1
    fi
  done
  if ((count > 0)); then
    _huddle_propose "$kind" "$words" "$current"
    return
  fi
  _huddle_positional "$command" "$position"
  if [[ $current = -* || -z $kind ]]; then
    _huddle_options "$command"
    _huddle_propose word "$words" "$current"
  elif [ "$kind" = rest ]; then
    _huddle_other_command "$COMP_CWORD" "$current"
  else
    _huddle_propose "$kind" "$words" "$current"
  fi
}

complete -F _huddle huddle
)bash";

std::string kind_of(cli::Value value) {
  switch (value) {
    case cli::Value::text:
      return "text";
    case cli::Value::word:
      return "word";
    case cli::Value::list:
      return "list";
    case cli::Value::machine:
      return "machine";
    case cli::Value::file:
      return "file";
    case cli::Value::folder:
      return "folder";
    case cli::Value::program:
      return "program";
  }
  return "text";
}

// Returns assignments that set variables of the calling shell function.
std::string answer(const Argument& argument) {
  return fmt::format("kind={} words='{}'", kind_of(argument.value), fmt::join(argument.words, " "));
}

constexpr std::string_view any = "*";  // matches every command

std::string option_rules(std::string_view command, const std::vector<Argument>& options) {
  std::string text;
  for (const Argument& option : options) {
    if (option.values == 0) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      patterns.push_back(command == any ? fmt::format("*' {}'", name)
                                        : fmt::format("'{} {}'", command, name));
    }
    text += fmt::format("    {}) {} count={} ;;\n", fmt::join(patterns, " | "), answer(option),
                        option.values);
  }
  return text;
}

// Returns a bash function with the kind and the number of each option's values.
std::string option_table(const cli::ProgramInterface& all) {
  std::string text =
      "# The option $2 of command $1.\n_huddle_option() {\n  count=0 kind=''\n  case \"$1 $2\" "
      "in\n";
  for (const Interface& command : all.commands) text += option_rules(command.name, command.options);
  return text + option_rules(any, all.program.appearance) + "  esac\n}\n";
}

std::string names_of_options(const Interface& command) {
  std::vector<std::string> names;
  for (const Argument& option : all_options(command)) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string options_table(const cli::ProgramInterface& all) {
  std::string text = "# All options of command $1.\n_huddle_options() {\n  case $1 in\n";
  text += fmt::format("    '') words='{}' ;;\n", names_of_options(all.program));
  for (const Interface& command : all.commands) {
    text += fmt::format("    '{}') words='{}' ;;\n", command.name, names_of_options(command));
  }
  return text + "    *) words='' ;;\n  esac\n}\n";
}

// Returns the rule that proposes the subcommands of a command; empty if there are none.
std::string commands_rule(std::string_view name, const Interface& interface) {
  if (interface.subcommands.empty()) return "";
  std::vector<std::string> names;
  for (const cli::Listed& below : interface.subcommands) names.push_back(below.name);
  return fmt::format("    '{} 0') kind=command words='{}' ;;\n", name, fmt::join(names, " "));
}

std::string positional_table(const cli::ProgramInterface& all) {
  std::string text =
      "# What stands at place $2 behind command $1 (without one: the command).\n"
      "_huddle_positional() {\n  kind='' words=''\n  case \"$1 $2\" in\n";
  text += commands_rule("", all.program);
  for (const Interface& command : all.commands) {
    text += commands_rule(command.name, command);
    for (std::size_t i = 0; i < command.positionals.size(); ++i) {
      text += fmt::format("    '{} {}') {} ;;\n", command.name, i, answer(command.positionals[i]));
    }
    if (command.rest) {
      text += fmt::format("    '{} {}') kind=rest ;;\n", command.name, command.positionals.size());
    }
  }
  return text + "  esac\n}\n";
}

}  // namespace

std::string bash_completion(const cli::ProgramInterface& all) {
  return fmt::format("{}{}\n{}\n{}{}", bash_opening, option_table(all), options_table(all),
                     positional_table(all), bash_reader);
}

}  // namespace huddle::manual

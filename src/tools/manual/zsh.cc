// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// zsh completions: a function per command that uses zsh's _arguments.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/manual/manual.h"

namespace huddle::manual {
namespace {

using cli::Argument;
using cli::Interface;

constexpr std::string_view program_name = "huddle";

constexpr std::string_view zsh_opening = R"zsh(#compdef huddle
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Completion of huddle in zsh. Made while huddle was built.

# Some of these words, by commas; ^ in front: all but these.
_huddle_list() {
  compset -P '\^'
  _sequence compadd - "$@"
}

# A machine that huddle knows by name (with which lines of its list begin), or a file.
_huddle_machine() {
  local -a lines=("${(@f)$(command huddle topo --list-machines 2>/dev/null)}")
  local -a names=(${${(M)lines:#[^ ]*}%% *})
  compadd -a names
  _files -g '*.toml'
}

)zsh";

// Escapes text within the quotes of a specification, where colons and brackets have a meaning.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == '\\' || c == ':' || c == '[' || c == ']') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_action(const Argument& argument) {
  switch (argument.value) {
    case cli::Value::text:
      return " ";
    case cli::Value::word:
      return fmt::format("({})", fmt::join(argument.words, " "));
    case cli::Value::list:
      return fmt::format("{{_huddle_list {}}}", fmt::join(argument.words, " "));
    case cli::Value::machine:
      return "_huddle_machine";
    case cli::Value::file:
      return "_files";
    case cli::Value::folder:
      return "_files -/";
    case cli::Value::program:
      return "_command_names -e";
  }
  return " ";
}

std::string values_of(const Argument& option) {
  std::string text;
  for (int i = 0; i < option.values; ++i) {
    text += fmt::format("{}:{}:{}", option.value_optional ? ":" : "", escaped(option.placeholder),
                        zsh_action(option));
  }
  return text;
}

// Returns the options that are not proposed after this one: all of its names, and those that it
// excludes.
std::vector<std::string> rivals_of(const Interface& interface, const Argument& option) {
  std::vector<std::string> rivals = option.names;
  for (const auto& [one, other] : interface.exclusions) {
    if (option.goes_by(one)) rivals.push_back(other);
    if (option.goes_by(other)) rivals.push_back(one);
  }
  return rivals;
}

// Marks options that take one value: "=" if the value may follow in the same word after "=" or in
// the next word, "+" if it follows directly or in the next word.
std::string marked(const std::string& name, const Argument& option) {
  if (option.values != 1) return name;
  return name + (name.starts_with("--") ? "=" : "+");
}

std::string option_lines(const Interface& interface) {
  std::string text;
  for (const Argument& option : all_options(interface)) {
    for (const std::string& name : option.names) {
      text += fmt::format(" \\\n    '({}){}[{}]{}'", fmt::join(rivals_of(interface, option), " "),
                          marked(name, option), escaped(option.help), values_of(option));
    }
  }
  return text;
}

std::string positional_lines(const Interface& command) {
  std::string text;
  for (const Argument& argument : command.positionals) {
    text += fmt::format(" \\\n    '::{}:{}'", escaped(argument.placeholder), zsh_action(argument));
  }
  if (command.rest) text += " \\\n    '(-):command:_command_names -e' '*::arguments: _normal'";
  return text;
}

// Returns for example "_huddle_bench_engine"; "_huddle" for the program.
std::string function_of(const Interface& interface) {
  std::string name = interface.name == program_name ? "_huddle" : "_huddle_" + interface.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

// Proposes the subcommands, then calls the function of the chosen one.
std::string function_with_commands(const Interface& interface) {
  const std::string name = function_of(interface);
  std::string text = fmt::format("{}_commands() {{\n  local -a commands=(\n", name);
  for (const cli::Listed& below : interface.subcommands) {
    text += fmt::format("    '{}:{}'\n", below.name, escaped(below.summary));
  }
  return fmt::format(
      "{0}  )\n  _describe command commands\n}}\n\n"
      "{1}() {{\n"
      "  local curcontext=$curcontext context state line\n"
      "  local -A opt_args\n"
      "  _arguments -C -S -A '-*'{2} \\\n"
      "    '1:command:{1}_commands' '*::arguments:->command'\n"
      "  [[ $state != command ]] || _call_function - {1}_$line[1]\n"
      "}}\n\n",
      text, name, option_lines(interface));
}

std::string function_text(const Interface& interface) {
  if (!interface.subcommands.empty()) return function_with_commands(interface);
  // After the first word of another command line, options belong to that command.
  return fmt::format("{}() {{\n  _arguments -S{}{}{}\n}}\n\n", function_of(interface),
                     interface.rest ? " -A '-*'" : "", option_lines(interface),
                     positional_lines(interface));
}

}  // namespace

std::string zsh_completion(const cli::ProgramInterface& all) {
  std::string text(zsh_opening);
  for (const Interface& command : all.commands) text += function_text(command);
  return text + function_text(all.program) + "_huddle \"$@\"\n";
}

}  // namespace huddle::manual

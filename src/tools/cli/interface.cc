// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/interface.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"

namespace huddle::cli {

constexpr std::string_view program_description =
    "huddle speeds up MPI collectives inside a node.\n"
    "It runs unmodified MPI programs, and selects algorithms by the core-to-core latency and "
    "bandwidth that it has measured on this machine.";

constexpr std::string_view program_footer =
    "First steps:\n"
    "  huddle doctor                     check whether huddle works here\n"
    "  huddle calibrate                  measure this machine, once\n"
    "  huddle run mpirun -n 4 ./app      run your program with huddle\n\n"
    "'huddle COMMAND --help' shows examples, 'huddle config --help' where settings come from.\n"
    "Exit status: 0 success, 1 a failure or a failed check, 2 wrong usage, 3 invalid input.";

constexpr std::string_view order_of_sources =
    "The first of these sources that contains a setting applies:\n"
    "  an option on the command line\n"
    "  HUDDLE_<SETTING> in the environment\n"
    "  $XDG_CONFIG_HOME/huddle/config.toml (default folder: ~/.config)\n"
    "  /etc/huddle/config.toml\n"
    "  the default";

std::string help_of_number(const std::string& help, int least, int most) {
  // A default in parentheses at the end and the range share them.
  if (help.ends_with(')')) {
    return fmt::format("{}; {} to {})", help.substr(0, help.size() - 1), least, most);
  }
  return fmt::format("{} ({} to {})", help, least, most);
}

namespace {

// Splits "-n,--ranks" into "-n" and "--ranks".
std::vector<std::string> words_between(std::string_view text, char separator) {
  const std::vector<std::string_view> parts = split(text, separator);
  return {parts.begin(), parts.end()};
}

// Maps the three placeholders that determine the kind of a value.
Value value_by(std::string_view placeholder) {
  if (placeholder == "FILE") return Value::file;
  if (placeholder == "DIR") return Value::folder;
  if (placeholder == "LAUNCHER") return Value::program;
  return Value::text;
}

Argument argument_of(const settings::Setting& setting) {
  Argument argument{.names = {settings::flag_name(setting.key)},
                    .placeholder = std::string(setting.placeholder),
                    .help = std::string(setting.help),
                    .values = 1,
                    .is_setting = true};
  switch (setting.kind) {
    case settings::Kind::machine:
      argument.value = Value::machine;
      return argument;
    case settings::Kind::word:
    case settings::Kind::toggle:
    case settings::Kind::output:
      argument.value = Value::word;
      argument.words = words_between(setting.placeholder, '|');
      return argument;
    case settings::Kind::list:
      argument.value = Value::list;
      argument.words.assign(setting.names.begin(), setting.names.end());
      return argument;
    case settings::Kind::count:
    case settings::Kind::size:
    case settings::Kind::forcing:
      return argument;
  }
  return argument;
}

// Records the options that a command declares.
class Recorder : public Options {
 public:
  explicit Recorder(Interface& interface) : interface_(interface) {}

  void flag(const std::string& names, bool& /*target*/, const std::string& help) override {
    option(names, "", help);
  }
  void text(const std::string& names, std::string& /*target*/, const std::string& placeholder,
            const std::string& help) override {
    option(names, placeholder, help).values = 1;
  }
  void optional_text(const std::string& names, std::string& /*target*/,
                     const std::string& /*fallback*/, const std::string& placeholder,
                     const std::string& help) override {
    Argument& argument = option(names, placeholder, help);
    argument.values = 1;
    argument.value_optional = true;
  }
  void number(const std::string& names, int& /*target*/, int least, int most,
              const std::string& placeholder, const std::string& help) override {
    option(names, placeholder, help_of_number(help, least, most)).values = 1;
  }
  void setting(const std::string& key) override {
    interface_.options.push_back(argument_of(settings::setting_named(key)));
  }
  void positional(const std::string& name, std::string& /*target*/,
                  const std::string& help) override {
    interface_.positionals.push_back(
        {.names = {name}, .placeholder = name, .help = help, .values = 1, .value_optional = true});
  }
  void rest(const std::string& name, std::vector<std::string>& /*target*/,
            const std::string& help) override {
    interface_.rest = Argument{.names = {name}, .placeholder = name, .help = help};
  }
  void exclude(const std::string& name, const std::string& other) override {
    interface_.exclusions.emplace_back(name, other);
  }
  void complete(const std::string& name, Value value,
                const std::vector<std::string>& words) override {
    for (auto* const arguments : {&interface_.options, &interface_.positionals}) {
      for (Argument& argument : *arguments) {
        if (!argument.goes_by(name)) continue;
        argument.value = value;
        argument.words = words;
      }
    }
  }

 private:
  Argument& option(const std::string& names, const std::string& placeholder,
                   const std::string& help) {
    interface_.options.push_back({.names = words_between(names, ','),
                                  .placeholder = placeholder,
                                  .help = help,
                                  .value = value_by(placeholder)});
    return interface_.options.back();
  }

  Interface& interface_;
};

Argument flag_named(const char* names, const char* help) {
  return {.names = words_between(names, ','), .help = help};
}

std::vector<Argument> everywhere() {
  std::vector<Argument> arguments;
  for (const settings::Setting& setting : settings::table()) {
    if (setting.flag_everywhere) arguments.push_back(argument_of(setting));
  }
  return arguments;
}

// Describes a command. `name`: the name as typed, including parent commands.
Interface interface_of(Command& command, const std::string& name) {
  Interface result{.name = name,
                   .summary = command.summary(),
                   .description = command.description(),
                   .footer = command.examples(),
                   .options = {flag_named(help_flag, help_text)},
                   .appearance = everywhere()};
  for (const auto& below : command.subcommands()) {
    result.subcommands.push_back({below->name(), below->summary()});
  }
  Recorder recorder(result);
  command.declare(recorder);
  return result;
}

void add_with_subcommands(std::vector<Interface>& all, Command& command, const std::string& name) {
  all.push_back(interface_of(command, name));
  for (const auto& below : command.subcommands()) {
    add_with_subcommands(all, *below, name + " " + below->name());
  }
}

}  // namespace

bool Argument::goes_by(std::string_view name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<Argument> all_options(const Interface& interface) {
  std::vector<Argument> all = interface.options;
  all.insert(all.end(), interface.appearance.begin(), interface.appearance.end());
  return all;
}

ProgramInterface program_interface() {
  ProgramInterface all;
  all.program = {
      .name = "huddle",
      .summary = "speeds up MPI collectives inside a node",
      .description = std::string(program_description),
      .footer = std::string(program_footer),
      .options = {flag_named(help_flag, help_text), flag_named(version_flag, version_text)},
      .appearance = everywhere()};
  for (const auto& command : all_commands()) {
    all.program.subcommands.push_back({command->name(), command->summary()});
    add_with_subcommands(all.commands, *command, command->name());
  }
  return all;
}

}  // namespace huddle::cli

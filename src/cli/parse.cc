// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// From the command line to a command. The only file that includes CLI11.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "huddle/huddle.h"

namespace huddle::cli {
namespace {

class ParserOptions : public Options {
 public:
  explicit ParserOptions(CLI::App& app) : app_(app) {}

  void flag(const std::string& names, bool& target, const std::string& help) override {
    app_.add_flag(names, target, help);
  }
  void text(const std::string& names, std::string& target, const std::string& placeholder,
            const std::string& help) override {
    app_.add_option(names, target, help)->type_name(placeholder);
  }
  void number(const std::string& names, int& target, int least, int most,
              const std::string& placeholder, const std::string& help) override {
    app_.add_option(names, target, help)->check(CLI::Range(least, most))->type_name(placeholder);
  }
  void positional(const std::string& name, std::string& target, const std::string& help) override {
    app_.add_option(name, target, help)->type_name("");
  }
  void exclude(const std::string& name, const std::string& other) override {
    app_.get_option(name)->excludes(app_.get_option(other));
  }

 private:
  CLI::App& app_;
};

constexpr std::string_view description =
    "huddle makes the cores of a machine talk faster.\n"
    "It measures what communication costs here (huddle calibrate) and decides by that.";

constexpr std::string_view footer =
    "Start with:\n"
    "  huddle topo        what this machine looks like\n"
    "  huddle doctor      what huddle needs and whether it is here\n"
    "  huddle calibrate   measure this machine, once\n"
    "\n"
    "Exit status: 0 fine, 1 a finding or failure, 2 wrong usage, 3 bad input.";

// What the parser itself has to say: help and version are answers, the rest is wrong usage.
int report_parse(const CLI::App& app, const CLI::ParseError& error, const Console& console) {
  if (error.get_exit_code() == 0) return app.exit(error);
  console.note(fmt::format("huddle: {}", error.what()));
  console.note("Try 'huddle --help', or 'huddle COMMAND --help'.");
  return static_cast<int>(ExitCode::usage);
}

// CLI11 takes an unknown subcommand for a stray argument; a person wants to know which was meant.
void reject_unknown_command(int argc, char** argv,
                            const std::vector<std::unique_ptr<Command>>& commands) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command->name());
  const std::string word = argv[1];
  if (std::find(names.begin(), names.end(), word) != names.end()) return;
  throw UsageError(fmt::format("there is no command '{}'{}", word, did_you_mean(word, names)));
}

int run_command(Command& command) {
  Context context;
  context.settings = settings::resolve(settings::process_sources());
  context.console = make_console(context.settings);
  return static_cast<int>(command.run(context));
}

int parse_and_run(int argc, char** argv) {
  const auto commands = all_commands();
  reject_unknown_command(argc, argv, commands);

  CLI::App app{std::string(description), "huddle"};
  app.footer(std::string(footer));
  app.set_version_flag("--version", fmt::format("huddle {}", huddle_version()));
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(34);
  Command* chosen = nullptr;
  for (const auto& command : commands) {
    CLI::App* sub = app.add_subcommand(command->name(), command->summary());
    ParserOptions options(*sub);
    command->declare(options);
    sub->footer("Examples:\n" + command->examples());
    sub->callback([&chosen, raw = command.get()] { chosen = raw; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_parse(app, error, Console{});
  }
  if (chosen == nullptr) {
    Console{}.print(app.help());
    return static_cast<int>(ExitCode::fine);
  }
  return run_command(*chosen);
}

}  // namespace

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_topo_command());
  commands.push_back(make_calibrate_command());
  commands.push_back(make_doctor_command());
  commands.push_back(make_config_command());
  return commands;
}

int run_program(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const Error& error) {
    Console{}.note(fmt::format("huddle: {}", error.what()));
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    Console{}.note(fmt::format("huddle: {}", error.what()));
    return static_cast<int>(ExitCode::failure);
  }
}

}  // namespace huddle::cli

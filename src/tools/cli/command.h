// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The interface of a subcommand: its names, its options and its action. Only parse.cc knows how
// arguments are parsed.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/settings/settings.h"
#include "tools/cli/console.h"

namespace huddle::cli {

// The kind of a value, for shells that complete it.
enum class Value { text, word, list, machine, file, folder, program };

// Collects the options of one subcommand. `names` are written as "-n,--ranks". The placeholders
// FILE, DIR and LAUNCHER define the kind of a value.
class Options {
 public:
  virtual ~Options() = default;
  virtual void flag(const std::string& names, bool& target, const std::string& help) = 0;
  virtual void text(const std::string& names, std::string& target, const std::string& placeholder,
                    const std::string& help) = 0;
  // Declares an option whose value is optional and defaults to `fallback`.
  virtual void optional_text(const std::string& names, std::string& target,
                             const std::string& fallback, const std::string& placeholder,
                             const std::string& help) = 0;
  virtual void number(const std::string& names, int& target, int least, int most,
                      const std::string& placeholder, const std::string& help) = 0;
  // Declares the option of a setting, such as --machine for "machine". It overrides the environment
  // and files, and the command finds its value in Context::settings.
  virtual void setting(const std::string& key) = 0;
  // Declares an optional positional argument.
  virtual void positional(const std::string& name, std::string& target,
                          const std::string& help) = 0;
  // Declares a target for all words from the first one that is not an option of this command, such
  // as another command line.
  virtual void rest(const std::string& name, std::vector<std::string>& target,
                    const std::string& help) = 0;
  // Declares that these two cannot be combined.
  virtual void exclude(const std::string& name, const std::string& other) = 0;
  // Declares that the option `name` requires `other`.
  virtual void need(const std::string& /*name*/, const std::string& /*other*/) {}
  // Declares the values that shells may propose for an argument whose placeholder does not define
  // them. Parsers do not check values against this list, because the command itself reports errors
  // better.
  virtual void complete(const std::string& /*name*/, Value /*value*/,
                        const std::vector<std::string>& /*words*/ = {}) {}
};

// The environment of a running command.
struct Context {
  Console console;
  std::vector<settings::Resolved> settings;
  // Sentences about ignored settings, which have been printed as warnings.
  std::vector<std::string> ignored_settings = {};
  // The caller's disposition of SIGPIPE, which huddle changes for itself.
  bool pipe_signal_was_ignored = false;
};

class Command {
 public:
  Command() = default;
  virtual ~Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;  // one line, lower case, for the list of commands
  virtual std::string description() const { return summary(); }  // first paragraph of the help
  virtual std::string examples() const = 0;  // shown below the options: "  huddle topo\n..."
  virtual void declare(Options& options) = 0;
  // Returns whether errors in a configuration file or the environment are only printed as warnings
  // instead of ending the command, because jobs must not depend on them, or because the command
  // examines them.
  virtual bool ignores_wrong_settings() const { return false; }
  virtual ExitCode run(const Context& context) = 0;
  // Returns the subcommands, which have their own options and help: `huddle bench engine`.
  const std::vector<std::unique_ptr<Command>>& subcommands() const { return subcommands_; }

 protected:
  void add_subcommand(std::unique_ptr<Command> command) {
    subcommands_.push_back(std::move(command));
  }

 private:
  std::vector<std::unique_ptr<Command>> subcommands_;
};

std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_topo_command();
std::unique_ptr<Command> make_calibrate_command();
std::unique_ptr<Command> make_explain_command();
std::unique_ptr<Command> make_map_command();
std::unique_ptr<Command> make_profile_command();
std::unique_ptr<Command> make_watch_command();
std::unique_ptr<Command> make_doctor_command();
std::unique_ptr<Command> make_config_command();
std::unique_ptr<Command> make_bench_command();
std::unique_ptr<Command> make_bench_engine_command();
std::unique_ptr<Command> make_bench_compare_command();
std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_distance_command();
std::unique_ptr<Command> make_schedule_command();
std::unique_ptr<Command> make_sim_command();
std::unique_ptr<Command> make_reproduce_command();
std::unique_ptr<Command> make_paths_command();
std::unique_ptr<Command> make_ucx_command();

// A command's name, and the function that creates the command.
struct NamedCommand {
  std::string_view name;
  std::unique_ptr<Command> (*make)();
};

// Returns the names of all commands, in the order of the help.
std::span<const NamedCommand> named_commands();

// Returns every command, in the order of the help.
std::vector<std::unique_ptr<Command>> all_commands();

// Parses the command line, runs the command and reports errors. Returns the exit status.
int run_command_line(int argc, char** argv);

}  // namespace huddle::cli

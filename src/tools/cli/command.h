// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One subcommand: what it is called, what it takes, what it does. The parser (parse.cc) is the only
// file that knows how arguments are parsed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/settings/settings.h"
#include "tools/cli/console.h"

namespace huddle::cli {

// What a value is, for shells that complete it.
enum class Value { text, word, list, machine, file, folder, program };

// Collects the options of one subcommand. `names` are written as "-n,--ranks". The placeholders
// FILE, DIR and LAUNCHER say of what kind a value is.
class Options {
 public:
  virtual ~Options() = default;
  virtual void flag(const std::string& names, bool& target, const std::string& help) = 0;
  virtual void text(const std::string& names, std::string& target, const std::string& placeholder,
                    const std::string& help) = 0;
  // Its value may be left out, and is then `fallback`.
  virtual void optional_text(const std::string& names, std::string& target,
                             const std::string& fallback, const std::string& placeholder,
                             const std::string& help) = 0;
  virtual void number(const std::string& names, int& target, int least, int most,
                      const std::string& placeholder, const std::string& help) = 0;
  // The flag of a setting, such as --machine for "machine": given, it wins over environment and
  // files, and the command finds it among its context's settings.
  virtual void setting(const std::string& key) = 0;
  // A positional argument that may be left out.
  virtual void positional(const std::string& name, std::string& target,
                          const std::string& help) = 0;
  // All words from the first that is no option of this command: another command's own.
  virtual void rest(const std::string& name, std::vector<std::string>& target,
                    const std::string& help) = 0;
  // These two cannot be given together.
  virtual void exclude(const std::string& name, const std::string& other) = 0;
  // The option `name` cannot be given without `other`.
  virtual void need(const std::string& /*name*/, const std::string& /*other*/) {}
  // What shells may propose for an argument whose placeholder does not say it. Nothing for whoever
  // reads a command line: the command itself knows best what to say of a wrong value.
  virtual void complete(const std::string& /*name*/, Value /*value*/,
                        const std::vector<std::string>& /*words*/ = {}) {}
};

// What a command may consult while it runs.
struct Context {
  Console console;
  std::vector<settings::Resolved> settings;
  // Sentences about settings that were ignored. Empty for commands that stop at the first.
  std::vector<std::string> ignored_settings = {};
  // How the caller has set SIGPIPE, which huddle changes for itself.
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
  virtual std::string description() const { return summary(); }  // what help opens with
  virtual std::string examples() const = 0;  // shown below the options: "  huddle topo\n..."
  virtual void declare(Options& options) = 0;
  // Returns whether a mistake in a configuration file or in the environment is ignored, and
  // reported by the command, rather than ends it: jobs must not depend on it.
  virtual bool ignores_wrong_settings() const { return false; }
  virtual ExitCode run(const Context& context) = 0;
  // Commands below this one: `engine` of `bench` is `huddle bench engine`. Each has options and a
  // help of its own.
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

// Every command, in the order in which help lists them.
std::vector<std::unique_ptr<Command>> all_commands();

// Parses, runs, reports: the whole program below main(). Returns the exit status.
int run_command_line(int argc, char** argv);

}  // namespace huddle::cli

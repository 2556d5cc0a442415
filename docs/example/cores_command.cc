// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An example of a new subcommand: `huddle cores` prints the number of cores of a machine. In
// src/tools/cli a subcommand needs such a file, a declaration in command.h and a line in
// all_commands(). Help, manual page, completions and exit status follow.
#include <fmt/format.h>

#include "model/machine/topology.h"
#include "tools/cli/command.h"

namespace huddle::cli {
namespace {

class CoresCommand : public Command {
 public:
  std::string name() const override { return "cores"; }
  std::string summary() const override { return "how many cores a machine has"; }
  std::string examples() const override { return "  huddle cores --synthetic 'core:8 pu:2'"; }
  void declare(Options& options) override {
    options.text("--synthetic", synthetic_, "DESC", "a machine elsewhere, in hwloc's words");
  }
  ExitCode run(const Context& context) override {
    const machine::Discovery found = synthetic_.empty()
                                         ? machine::discover_this_machine()
                                         : machine::discover_from_synthetic(synthetic_);
    context.console.print(fmt::format("{}\n", core_count(found.topology)));
    return ExitCode::fine;
  }

 private:
  std::string synthetic_;
};

}  // namespace

std::unique_ptr<Command> make_cores_command() { return std::make_unique<CoresCommand>(); }

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/doctor.h"

#include <cstdlib>

#include "tools/cli/command.h"
#include "tools/cli/doctor_report.h"

namespace huddle::cli {
namespace {

class DoctorCommand : public Command {
 public:
  std::string name() const override { return "doctor"; }
  std::string summary() const override { return "what huddle needs and whether it is here"; }
  std::string description() const override {
    return "Tries everything that huddle needs of this machine, for real where it can be tried, "
           "and says what works, what does not, what that costs you and how to get it. "
           "Changes nothing, but gives threads back what they had that a huddle which was killed "
           "has left bound. Run it where your programs run: inside the container, inside the job.";
  }
  std::string examples() const override {
    return "  huddle doctor                 a report for people\n"
           "  huddle doctor --json          the same for programs\n"
           "  srun -N1 huddle doctor        as a job sees its node\n"
           "\n"
           "Exit status:\n"
           "  0  huddle works here; checks marked '!' make it slower or take something away,\n"
           "     a missing MPI among them (programs with threads only need none)\n"
           "  1  something fails that huddle cannot do without";
  }
  void declare(Options& options) override {
    options.setting("machine");
    options.flag("--json", json_, "print everything as JSON");
  }
  ExitCode run(const Context& context) override {
    const char* const search_path = std::getenv("PATH");
    const settings::Resolved& machine = settings::find(context.settings, "machine");
    const auto findings =
        doctor::examine({.machine_file = {machine.value, machine.where},
                         .search_path = search_path == nullptr ? "" : search_path});
    context.console.print(json_ ? doctor_json(findings) : doctor_text(findings, context.console));
    return count(findings, doctor::State::fails) == 0 ? ExitCode::fine : ExitCode::failure;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle watch`: which threads share pages, and what would be done about it.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cli/command.h"
#include "cli/machine_in_question.h"
#include "cli/threads_report.h"
#include "machine/discover.h"
#include "picture/facts.h"

namespace huddle::cli {
namespace {

class WatchCommand : public Command {
 public:
  std::string name() const override { return "watch"; }
  std::string summary() const override {
    return "say which threads should move, and why, from what was seen of a program";
  }
  std::string description() const override {
    return "Decides where the threads of a program should sit while it runs: those that write to "
           "the same memory, near each other. Changes nothing. From a recording that huddle "
           "profile --record has made, it comes to the same decisions again, for this machine or "
           "for any other that is described.";
  }
  std::string examples() const override {
    return "  huddle profile --record app.touches ./app\n"
           "  huddle watch --replay app.touches\n"
           "  huddle watch --replay app.touches --machine epyc-2x64-estimate\n"
           "\n"
           "Exit status: 0 fine, 2 wrong usage, 3 the recording is damaged.";
  }
  void declare(Options& options) override {
    options.text("--replay", replay_, "FILE", "what huddle profile --record has written");
    options.setting("machine");
    options.number("--interval", interval_ms_, 50, 1000, "MS",
                   "the first one between decisions; 200");
    options.flag("--as-printed", as_printed_,
                 "count as it was published: a pair of threads only once a page");
    options.flag("--json", json_, "print everything as JSON");
  }
  ExitCode run(const Context& context) override {
    if (replay_.empty()) {
      throw UsageError("watch what? Give what huddle profile --record has written: --replay FILE");
    }
    const machine::Discovery here = machine::discover_this_machine();
    const MachineInQuestion machine = machine_in_question(context, here.topology);
    const machine::CostModel model(machine.loaded.machine);
    const threads::Recording recording = threads::read_recording(replay_);
    threads::AgentOptions options{.first_interval_ms = interval_ms_,
                                  .page_bytes = recording.page_bytes};
    if (as_printed_) options.counting = threads::Counting::newcomers;
    threads::Agent agent(model, model.machine().topology.pus, options);
    ThreadsSubject subject{.command = "watch",
                           .title = replay_,
                           .machine = picture::machine_title(machine.loaded.machine),
                           .matrix = {},
                           .threads = threads_at_work(recording.events),
                           .decisions = replay(recording.events, agent),
                           .touches = agent.touches(),
                           .replaced = agent.replaced(),
                           .notes = {}};
    subject.matrix = threads_matrix(agent, subject.threads, recording.names, recording.page_bytes);
    context.console.print(json_ ? threads_json(subject) : threads_text(subject, context.console));
    return ExitCode::fine;
  }

 private:
  std::string replay_;
  int interval_ms_ = threads::AgentOptions().first_interval_ms;
  bool as_printed_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_watch_command() { return std::make_unique<WatchCommand>(); }

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle watch`: shows which threads share pages and which moves would help.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "common/system.h"
#include "common/text.h"
#include "model/machine/machine_file.h"
#include "model/machine/topology.h"
#include "placement/threads/recording.h"
#include "tools/cli/command.h"
#include "tools/cli/selected_machine.h"
#include "tools/cli/thread_agent.h"
#include "tools/picture/facts.h"

namespace huddle::cli {
namespace {

class WatchCommand : public Command {
 public:
  std::string name() const override { return "watch"; }
  std::string summary() const override {
    return "decide which threads of a program should move, and why";
  }
  std::string description() const override {
    return "Decides on which hardware threads the threads of a running program should run, so that "
           "threads that use the same memory are close to each other. Without --move, it only "
           "reports. With --move, it binds the threads as decided while it runs; when it ends or "
           "is killed, each thread gets its previous CPU affinity back. From a recording of huddle "
           "profile --record, it derives the same decisions again, for the recorded machine or "
           "another one. In a process that already runs, only the process's own page faults are "
           "observed, "
           "which are few unless NUMA balancing is on (--allow-sysctl).";
  }
  std::string examples() const override {
    return "  huddle watch --replay app.touches        a file of huddle profile --record\n"
           "  huddle watch --replay app.touches --machine epyc-2x64-estimate\n"
           "  huddle watch --replay app.touches --machine xeon-e7-8850-8s --compare\n"
           "                                       predicted cost of each placement\n"
           "  perf mem record ./app\n"
           "  perf script -F comm,pid,tid,cpu,time,event,addr,data_src > app.txt\n"
           "  huddle watch --perf-script app.txt       samples of memory accesses\n"
           "  huddle watch 4711 --seconds 60           a running process\n"
           "  huddle watch 4711 --move --seconds 60    also move its threads\n\n"
           "Exit status: 0 success, 1 the process does not exist or cannot be observed, 2 wrong "
           "usage, 3 the recording is invalid.";
  }
  void declare(Options& options) override {
    options.positional("PID", process_, "the process to observe");
    options.text("--replay", replay_, "FILE", "a recording of huddle profile --record");
    options.text("--perf-script", from_, "FILE",
                 "samples of memory accesses, as printed by perf script");
    options.flag("--compare", compare_,
                 "with --replay or --perf-script: print the predicted communication time of each "
                 "placement, and of huddle's decisions");
    options.text(
        "--start", start_, "order|compact|spread",
        "with --replay or --perf-script: the initial placement (default: as recorded; with "
        "--compare, or on another machine: spread, as Linux places new threads)");
    options.complete("--start", Value::word, {"order", "compact", "spread"});
    options.number("--seconds", seconds_, 1, 3600, "N",
                   "how long to observe a process (default: 10)");
    options.flag("--move", move_, "bind the threads as decided, until huddle watch ends");
    declare_binding(options, bind_, "--move");
    declare_allow_sysctl(options, allow_sysctl_, "for a process");
    options.exclude("--allow-sysctl", "--replay");
    options.exclude("--allow-sysctl", "--perf-script");
    options.exclude("--move", "--replay");
    options.exclude("--move", "--perf-script");
    options.setting("machine");
    options.number("--interval", interval_ms_, 50, 1000, "MS",
                   "initial interval between decisions (default: 200)");
    options.flag("--as-published", as_printed_,
                 "count each pair of threads at most once per page, as in the publication");
    options.flag("--json", json_, "print everything as JSON");
  }
  ExitCode run(const Context& context) override {
    if (!replay_.empty() + !from_.empty() + !process_.empty() != 1) {
      throw UsageError(
          "a process or a recording is required: the process ID, --replay FILE (huddle profile "
          "--record), or --perf-script FILE (perf script)");
    }
    if (!process_.empty() && (compare_ || !start_.empty())) {
      throw UsageError("--compare and --start require a recording: add --replay FILE");
    }
    if (!start_.empty() && !threads::start_named(start_)) {
      throw UsageError("--start must be order, compact or spread, not '" + printable(start_) + "'");
    }
    const threads::Binding binding = binding_named(bind_);
    std::optional<threads::Recording> recording;
    std::vector<std::string> notes;
    if (process_.empty()) recording = read_observations(notes);
    const machine::Discovery here = machine::discover_this_machine();
    const SelectedMachine machine = selected_for(context, here.topology, recording);
    const machine::CostModel model(machine.loaded.machine);
    threads::AgentOptions options{.first_interval_ms = interval_ms_};
    if (as_printed_) options.counting = threads::Counting::newcomers;
    options.rounds = rounds_if(allow_sysctl_);
    ThreadsSubject subject{.command = "watch",
                           .title = !process_.empty() ? "process " + process_ : replay_ + from_,
                           .machine = picture::machine_title(machine.loaded.machine),
                           .matrix = {},
                           .threads = {},
                           .decisions = {},
                           .touches = 0,
                           .replaced = 0,
                           .notes = std::move(notes),
                           .playback = {}};
    threads::repair_what_was_left();
    if (recording) {
      replay(std::move(*recording), model, options, subject);
    } else {
      check_observed(machine);
      if (move_) check_move(here);
      watch(model, here.allowed, options, binding, subject);
    }
    context.console.print(json_ ? threads_json(subject, model.machine())
                                : threads_text(subject, context.console));
    return ExitCode::fine;
  }

 private:
  // Returns the recording. Adds to `notes` what was left out of it.
  threads::Recording read_observations(std::vector<std::string>& notes) const {
    if (from_.empty()) return threads::read_recording(replay_);
    threads::PerfSamples samples = threads::read_perf_script(from_);
    notes = notes_of(samples);
    return std::move(samples.recording);
  }

  // Returns the name of the machine file in the recording, for errors.
  std::string machine_name() const { return replay_ + ": machine file"; }

  // Returns the machine of the recording if it contains one, unless the user selects a machine.
  SelectedMachine selected_for(const Context& context, const machine::Topology& here,
                               const std::optional<threads::Recording>& recording) const {
    const bool is_selected =
        settings::find(context.settings, "machine").layer != settings::Layer::built_in;
    if (is_selected || !recording || recording->machine.empty()) {
      return machine_in_question(context, here);
    }
    machine::Machine machine = machine::parse_machine(recording->machine, machine_name());
    std::string theirs = fingerprint(machine.topology);
    return {
        {std::move(machine), replay_, recording->machine}, std::move(theirs), fingerprint(here)};
  }

  // Returns why the hardware threads in the recording are not those of this machine; empty if they
  // are, or if that is unknown.
  std::string misplacement(const threads::Recording& recording,
                           const machine::Topology& topology) const {
    if (!recording.machine.empty()) {
      const std::string recorded =
          fingerprint(machine::parse_machine(recording.machine, machine_name()).topology);
      if (recorded == fingerprint(topology)) return "";
      return "the program was recorded on " + recorded;
    }
    for (const auto& event : recording.events) {
      const auto* const look = std::get_if<threads::Look>(&event);
      if (look == nullptr) continue;
      for (const threads::ThreadUse& use : look->threads) {
        if (!topology.pus.contains(use.processor)) {
          return fmt::format(
              "the program was recorded on hardware thread {}, which this machine "
              "does not have",
              use.processor);
        }
      }
    }
    return "";
  }

  // Places the threads as the user wants, or anew if the program was recorded on another machine,
  // because its hardware threads say nothing about this machine.
  void place(threads::Recording& recording, const machine::CostModel& model,
             ThreadsSubject& subject) const {
    std::optional<threads::Start> start = threads::start_named(start_);
    if (!start && compare_) start = threads::Start::spread;
    if (!start) {
      const std::string why = misplacement(recording, model.machine().topology);
      if (!why.empty()) {
        start = threads::Start::spread;
        subject.notes.push_back(why +
                                ": the threads start spread over this machine instead (--start)");
      } else if (recording.machine.empty()) {
        subject.notes.push_back(
            fmt::format("the recording does not contain its machine: its hardware threads are "
                        "taken as those of {}; --start places the threads anew",
                        subject.machine));
      }
    }
    if (start) recording.events = seated(std::move(recording.events), model, *start);
  }

  void replay(threads::Recording recording, const machine::CostModel& model,
              threads::AgentOptions options, ThreadsSubject& subject) const {
    if (compare_) {
      subject.playback = play(
          recording, model, threads::start_named(start_).value_or(threads::Start::spread), options);
    }
    place(recording, model, subject);
    options.page_bytes = recording.page_bytes;
    options.rounds = recording.rounds;
    threads::Agent agent(model, model.machine().topology.pus, options);
    subject.decisions = threads::replay(recording.events, agent);
    subject.threads = threads_at_work(recording.events);
    fill_in(agent, recording.names, recording.page_bytes, subject);
  }

  void watch(const machine::CostModel& model, const machine::CpuSet& allowed,
             const threads::AgentOptions& options, threads::Binding binding,
             ThreadsSubject& subject) const {
    const auto process = whole_number(process_);
    if (!process || *process < 1 || *process > most_process) {
      throw UsageError(fmt::format("'{}' is not a process ID", printable(process_)));
    }
    threads::Agent agent(model, allowed, options);
    std::optional<threads::Mover> mover;
    if (move_) {
      mover.emplace(static_cast<pid_t>(*process), model.machine().topology, allowed, binding,
                    threads::usual_state_folder());
    }
    threads::Mover* const moves = mover ? &*mover : nullptr;
    threads::PageSharing sharing;
    AgentClient client(agent,
                       json_ ? AgentClient::Keeps::everything : AgentClient::Keeps::decisions,
                       {.mover = moves, .sharing = &sharing});
    const std::unique_ptr<threads::NumaBalancing> balancing = balancing_if(allow_sysctl_);
    const threads::Watched watched = threads::watch_process(static_cast<pid_t>(*process), seconds_,
                                                            client, {moves, balancing.get()});
    subject.decisions = client.decisions();
    subject.moves = move_;
    subject.notes.emplace_back(
        "huddle did not start this process, so only the page faults that it has anyway are "
        "observed");
    for (const std::string& note : watched.notes) subject.notes.push_back(note);
    if (!balancing) {
      subject.notes.emplace_back(
          System().number("/proc/sys/kernel/numa_balancing").value_or(0) != 0
              ? "NUMA balancing is on and causes page faults"
              : "NUMA balancing is off; --allow-sysctl turns it on to cause page faults");
    }
    if (const std::string cost = cost_text(watched); !cost.empty()) subject.notes.push_back(cost);
    if (mover) {
      for (std::string& note : mover->notes()) subject.notes.push_back(std::move(note));
    }
    subject.threads = client.threads_at_work();
    subject.memory = sharing.memory_of(subject.threads);
    fill_in(agent, watched.names, options.page_bytes, subject);
  }

  static void check_move(const machine::Discovery& here) {
    if (here.allowed.count() < 2) {
      throw FailureError("this process may use only one hardware thread, so threads cannot move");
    }
  }

  // Requires: subject.threads.
  static void fill_in(const threads::Agent& agent, const std::vector<std::string>& names,
                      std::uint32_t page_bytes, ThreadsSubject& subject) {
    subject.touches = agent.touches();
    subject.replaced = agent.replaced();
    subject.matrix = threads_matrix(agent, subject.threads, names, page_bytes);
  }

  static constexpr long long most_process = 1LL << 22U;  // the kernel's own limit
  std::string process_, replay_, from_, start_;
  int seconds_ = 10;
  int interval_ms_ = threads::AgentOptions().first_interval_ms;
  std::string bind_ = std::string(threads::binding_names.front());
  bool as_printed_ = false, compare_ = false, json_ = false, move_ = false;
  bool allow_sysctl_ = false;
};

}  // namespace

std::unique_ptr<Command> make_watch_command() { return std::make_unique<WatchCommand>(); }

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench: what huddle does, against what is done without it, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "calibrate/calibrate.h"
#include "calibrate/cores.h"
#include "calibrate/sizes.h"
#include "cli/bench_json.h"
#include "cli/bench_report.h"
#include "cli/bench_text.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/measure_progress.h"
#include "cli/progress.h"
#include "contest/engine_contests.h"
#include "contest/hold.h"
#include "contest/variants.h"
#include "machine/discover.h"
#include "machine/locate.h"

namespace huddle::cli {
namespace {

constexpr int usual_rounds = 10;
constexpr int quick_rounds = 3;
constexpr int most_rounds = 1000;
constexpr int most_ranks = 1024;

// Contests and their shares, as a bar that moves.
class ProgressWatcher : public contest::Watcher {
 public:
  ProgressWatcher(const Console& console, std::size_t contests)
      : progress_(console, contests), contests_(contests) {}

  void begin(const std::string& name) {
    progress_.begin_step(name);
    advance(0);
  }
  void end() { ++ended_; }
  void advance(double share_of_contest) override {
    progress_.update((static_cast<double>(ended_) + share_of_contest) /
                     static_cast<double>(contests_));
  }
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  std::size_t contests_;
  std::size_t ended_ = 0;
};

// Timed here, so predicted for here: a file of another machine would choose for that one.
machine::LoadedMachine machine_for(const std::string& named, const machine::Topology& here) {
  machine::LoadedMachine loaded = machine::load_machine(named, here);
  const std::string theirs = fingerprint(loaded.machine.topology);
  const std::string ours = fingerprint(here);
  if (theirs == ours) return loaded;
  throw UsageError(
      fmt::format("{} describes {}, and this machine is {}; only what is here can be timed",
                  loaded.path, theirs, ours));
}

class BenchCommand : public Command {
 public:
  std::string name() const override { return "bench"; }
  std::string summary() const override { return "time huddle against bare code, side by side"; }
  std::string description() const override {
    return "Times huddle's collectives against the best that one can write by hand for just one "
           "case, in turns, by real processes, with data that change and are checked. What counts "
           "is the ratio in each round: a machine that is slow for a while is slow for both.";
  }
  std::string examples() const override {
    return "  huddle bench --engine           every bar of the engine (a minute on 2 cores)\n"
           "  huddle bench --engine --quick   a first idea\n"
           "  huddle bench --engine --variants -n 16\n"
           "                                  the papers' variants as well, with 16 ranks\n"
           "  huddle bench --engine --json    every figure of every round\n\n"
           "Exit status: 0 every bar holds, 1 one does not.";
  }
  void declare(Options& options) override {
    options.flag("--engine", engine_, "the collectives inside of a node, without any MPI");
    options.flag("--variants", variants_, "the papers' variants side by side, too");
    options.number("-n,--ranks", ranks_, 2, most_ranks, "N",
                   "ranks of the variants, in place of one a core");
    options.flag("--quick", quick_, "fewer and shorter rounds");
    options.number("--rounds", rounds_, 1, most_rounds, "N", "rounds in place of 10, or 3");
    options.flag("--json", json_, "print every figure as JSON");
    options.flag("--as-is", as_is_,
                 "choose by the machine file that is found; do not measure the machine first");
    options.setting("machine");
  }
  ExitCode run(const Context& context) override;

 private:
  void check_options() const;
  std::vector<contest::Contest> contests(const machine::Discovery& discovery,
                                         BenchReport& report) const;
  void hold_all(const Context& context, const std::vector<contest::Contest>& contests,
                const Interrupt& interrupt, BenchReport& report) const;

  machine::LoadedMachine machine_to_choose_by(const Context& context,
                                              const machine::Discovery& discovery,
                                              const Interrupt& interrupt) const;

  bool engine_ = false;
  bool as_is_ = false;
  bool variants_ = false;
  bool quick_ = false;
  bool json_ = false;
  int rounds_ = 0;  // not given
  int ranks_ = 0;   // not given
};

void BenchCommand::check_options() const {
  if (!engine_) throw UsageError("say what to time: huddle bench --engine");
  if (ranks_ > 0 && !variants_) {
    throw UsageError(
        "--ranks is how many the variants get; the others have their number: add --variants");
  }
}

std::vector<contest::Contest> BenchCommand::contests(const machine::Discovery& discovery,
                                                     BenchReport& report) const {
  const contest::Scale scale{quick_};
  const std::vector<int> pus = calibrate::measured_pus(discovery.topology, discovery.allowed);
  if (pus.size() < 2) {
    report.notes.push_back("only one core may be used here: nothing to hold the bars against");
  }
  std::vector<contest::Contest> all = contest::engine_contests(pus, scale);
  if (!variants_) return all;
  const contest::Seating seating{ranks_ > 0 ? ranks_ : std::max(2, static_cast<int>(pus.size())),
                                 pus};
  all.push_back(contest::barrier_variants(report.machine, seating, scale));
  for (auto& one : contest::bcast_variants(report.machine, seating, scale)) {
    all.push_back(std::move(one));
  }
  for (auto& one : contest::allreduce_variants(report.machine, seating, scale)) {
    all.push_back(std::move(one));
  }
  return all;
}

void BenchCommand::hold_all(const Context& context, const std::vector<contest::Contest>& contests,
                            const Interrupt& interrupt, BenchReport& report) const {
  ProgressWatcher watcher(context.console, contests.size());
  const contest::Terms terms{report.machine, report.rounds};
  for (const contest::Contest& one : contests) {
    if (interrupt.requested()) break;
    watcher.begin(one.name);
    report.results.push_back(contest::hold(one, terms, watcher, interrupt.requested()));
    watcher.end();
  }
  watcher.finish();
  report.interrupted = interrupt.requested();
}

// Choices and floors should speak of the same minutes: a virtual machine may be another one today
// than when its file was written. A file that was named is what its namer wants to try.
machine::LoadedMachine BenchCommand::machine_to_choose_by(const Context& context,
                                                          const machine::Discovery& discovery,
                                                          const Interrupt& interrupt) const {
  const std::string named = settings::find(context.settings, "machine").value;
  if (as_is_ || !named.empty()) return machine_for(named, discovery.topology);
  const calibrate::Plan plan = calibrate::make_plan(
      discovery.topology, {discovery.allowed, true, calibrate::usable_memory_bytes()});
  MeasureProgress watcher(context.console, plan, "measuring this machine: ");
  calibrate::Outcome outcome =
      calibrate::calibrate(discovery.topology, plan, watcher, interrupt.requested());
  watcher.finish();
  if (!outcome.stopped) return {std::move(outcome.machine), measured_now};
  context.console.note(
      fmt::format("huddle: {} before anything was timed", interrupt.signal_name()));
  interrupt.die();
}

ExitCode BenchCommand::run(const Context& context) {
  check_options();
  const Console& console = context.console;
  const machine::Discovery discovery = machine::discover_this_machine();
  const Interrupt interrupt;
  machine::LoadedMachine loaded = machine_to_choose_by(context, discovery, interrupt);
  BenchReport report{.machine = std::move(loaded.machine),
                     .machine_file = loaded.path,
                     .quick = quick_,
                     .rounds = rounds_ > 0 ? rounds_ : (quick_ ? quick_rounds : usual_rounds),
                     .notes = {},
                     .results = {}};
  const auto all = contests(discovery, report);
  for (const std::string& note : report.notes) console.note("note: " + note);
  hold_all(context, all, interrupt, report);
  console.print(json_ ? bench_json(report) : bench_text(report, console.columns));
  if (report.interrupted) {
    console.note(fmt::format("huddle: {}; what was measured until then stands above",
                             interrupt.signal_name()));
    interrupt.die();
  }
  return report.all_hold() ? ExitCode::fine : ExitCode::failure;
}

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace huddle::cli

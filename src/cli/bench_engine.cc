// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench engine: the collectives inside of a node, against bare code.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "calibrate/cores.h"
#include "cli/bench_json.h"
#include "cli/bench_options.h"
#include "cli/bench_report.h"
#include "cli/bench_text.h"
#include "cli/contest_progress.h"
#include "cli/engine_machine.h"
#include "cli/interrupt.h"
#include "contest/engine_contests.h"
#include "contest/hold.h"
#include "contest/variants.h"
#include "machine/discover.h"

namespace huddle::cli {
namespace {

class EngineBench {
 public:
  explicit EngineBench(const EngineBenchOptions& options) : options_(options) {}
  ExitCode run(const Context& context);

 private:
  std::vector<contest::Contest> contests(const machine::Discovery& discovery,
                                         BenchReport& report) const;
  void hold_all(const Context& context, const std::vector<contest::Contest>& contests,
                const Interrupt& interrupt, BenchReport& report) const;
  void print(const Console& console, const BenchReport& report) const;

  const EngineBenchOptions& options_;
};

std::vector<contest::Contest> EngineBench::contests(const machine::Discovery& discovery,
                                                    BenchReport& report) const {
  const contest::Scale scale{options_.quick};
  const std::vector<int> pus = calibrate::measured_pus(discovery.topology, discovery.allowed);
  if (pus.size() < 2) {
    report.notes.emplace_back("only one core may be used here: nothing to hold the bars against");
  }
  std::vector<contest::Contest> all = contest::engine_contests(pus, scale);
  if (!options_.variants) return all;
  const contest::Seating seating{
      options_.ranks > 0 ? options_.ranks : std::max(2, static_cast<int>(pus.size())), pus};
  all.push_back(contest::barrier_variants(report.machine, seating, scale));
  for (const auto variants :
       {contest::bcast_variants, contest::allreduce_variants, contest::alltoall_variants}) {
    for (auto& one : variants(report.machine, seating, scale)) all.push_back(std::move(one));
  }
  return all;
}

void EngineBench::hold_all(const Context& context, const std::vector<contest::Contest>& contests,
                           const Interrupt& interrupt, BenchReport& report) const {
  ContestProgress watcher(context.console, contests.size());
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

void EngineBench::print(const Console& console, const BenchReport& report) const {
  if (!options_.json.empty()) put_json(console, bench_json(report), options_.json);
  if (options_.json != json_on_stdout) console.print(bench_text(report, console.columns));
}

ExitCode EngineBench::run(const Context& context) {
  const Console& console = context.console;
  const machine::Discovery discovery = machine::discover_this_machine();
  const Interrupt interrupt;
  machine::LoadedMachine loaded = engine_machine(context, options_, discovery, interrupt);
  BenchReport report{.machine = std::move(loaded.machine),
                     .machine_file = loaded.path,
                     .quick = options_.quick,
                     .rounds = engine_rounds(options_),
                     .notes = {},
                     .results = {}};
  const auto all = contests(discovery, report);
  for (const std::string& note : report.notes) console.note("note: " + note);
  hold_all(context, all, interrupt, report);
  print(console, report);
  if (report.interrupted) {
    console.note(fmt::format("huddle: {}; what was measured until then stands above",
                             interrupt.signal_name()));
    interrupt.die();
  }
  return report.all_hold() ? ExitCode::fine : ExitCode::failure;
}

}  // namespace

ExitCode bench_engine(const Context& context, const EngineBenchOptions& options) {
  return EngineBench(options).run(context);
}

}  // namespace huddle::cli

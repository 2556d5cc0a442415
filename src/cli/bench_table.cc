// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench engine --table: every algorithm of every operation, what it needs, and what it
// takes by size, as predicted and as measured.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "calibrate/cores.h"
#include "calibrate/sizes.h"
#include "cli/bench_options.h"
#include "cli/bench_table_report.h"
#include "cli/contest_progress.h"
#include "cli/engine_machine.h"
#include "cli/interrupt.h"
#include "cli/machine_in_question.h"
#include "contest/algorithm_table.h"
#include "contest/forecast.h"
#include "contest/hold.h"
#include "machine/discover.h"

namespace huddle::cli {
namespace {

constexpr int usual_ranks = 2;

int ranks_of(const EngineBenchOptions& options) {
  return options.ranks > 0 ? options.ranks : usual_ranks;
}

void print(const Console& console, const EngineBenchOptions& options,
           const BenchTableReport& report) {
  for (const std::string& note : report.notes) console.note("note: " + note);
  if (!options.json.empty()) put_json(console, bench_table_json(report), options.json);
  if (options.json == json_on_stdout) return;
  console.print(options.markdown ? bench_table_markdown(report)
                                 : bench_table_text(report, console.columns));
}

BenchTableReport report_of(machine::LoadedMachine loaded, contest::Seating seating,
                           const EngineBenchOptions& options) {
  return {.machine = std::move(loaded.machine),
          .machine_file = loaded.path,
          .seating = std::move(seating),
          .dry_run = options.dry_run,
          .quick = options.quick,
          .rounds = options.dry_run ? 0 : engine_rounds(options),
          .notes = {},
          .tables = {}};
}

// Needs nobody to run, and so answers for machines that are not here.
ExitCode predict(const Context& context, const EngineBenchOptions& options) {
  MachineInQuestion machine =
      machine_in_question(context, machine::discover_this_machine().topology);
  const contest::Seating seating{ranks_of(options),
                                 first_pu_of_cores(machine.loaded.machine.topology)};
  BenchTableReport report = report_of(std::move(machine.loaded), seating, options);
  constexpr bool may_read = true;
  report.tables =
      contest::algorithm_table(contest::Forecast(report.machine, report.seating, may_read));
  print(context.console, options, report);
  return ExitCode::fine;
}

// Whether there is memory for the buffers of all ranks, and as much again for whoever else is here.
bool fits(const contest::Contest& contest) {
  constexpr std::size_t buffers = 2;
  const std::size_t bytes =
      buffers * contest.bytes * static_cast<std::size_t>(contest.seating.ranks);
  return bytes <= calibrate::usable_memory_bytes() / 2;
}

void measure(const Context& context, const Interrupt& interrupt, BenchTableReport& report) {
  std::size_t contests = 0;
  for (const auto& table : report.tables) contests += table.bytes.size();
  ContestProgress watcher(context.console, contests);
  const contest::Terms terms{report.machine, report.rounds};
  for (contest::OperationTable& table : report.tables) {
    for (std::size_t i = 0; i < table.bytes.size() && !interrupt.requested(); ++i) {
      const auto one = contest::contest_at(table, i, report.seating, {report.quick});
      watcher.begin(one.name);
      if (fits(one)) {
        contest::enter(contest::hold(one, terms, watcher, interrupt.requested()), table, i);
      } else {
        report.notes.push_back(
            fmt::format("{} is not measured: there is too little memory", one.name));
      }
      watcher.end();
    }
  }
  watcher.finish();
  report.interrupted = interrupt.requested();
}

}  // namespace

ExitCode bench_table(const Context& context, const EngineBenchOptions& options) {
  if (options.dry_run) return predict(context, options);
  const machine::Discovery discovery = machine::discover_this_machine();
  const Interrupt interrupt;
  machine::LoadedMachine loaded = engine_machine(context, options, discovery, interrupt);
  const contest::Seating seating{ranks_of(options),
                                 calibrate::measured_pus(discovery.topology, discovery.allowed)};
  BenchTableReport report = report_of(std::move(loaded), seating, options);
  report.tables = contest::algorithm_table(contest::Forecast(report.machine, report.seating));
  measure(context, interrupt, report);
  print(context.console, options, report);
  if (report.interrupted) {
    context.console.note(fmt::format("huddle: {}; what was measured until then stands above",
                                     interrupt.signal_name()));
    interrupt.die();
  }
  return ExitCode::fine;
}

}  // namespace huddle::cli

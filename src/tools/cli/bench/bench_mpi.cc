// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench with an MPI: prints its collectives and huddle's in tables like OSU's programs.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/settings/settings.h"
#include "common/system.h"
#include "common/text.h"
#include "huddle/huddle.h"
#include "model/machine/topology.h"
#include "runtime/node/locality.h"
#include "runtime/select/candidate.h"
#include "tools/bench/mpi/measure_points.h"
#include "tools/cli/bench/bench_json.h"
#include "tools/cli/bench/bench_options.h"
#include "tools/cli/bench/bench_plan.h"
#include "tools/cli/bench/bench_report.h"
#include "tools/cli/document_json.h"
#include "tools/cli/progress.h"
#include "tools/cli/selected_machine.h"
#include "tools/cli/terminal_text.h"
#include "tools/launch/preload.h"

namespace huddle::cli {
namespace {

using bench::PointResult;
using select::Operation;

constexpr TableLook mpi_look = {.indent = 2, .name_columns = 12};

std::string interval_text(const bench::Estimate& estimate) {
  return fmt::format("{:.2f}-{:.2f}", estimate.low, estimate.high);
}

std::string size_of(const PointResult& one) {
  if (one.point.operation == Operation::barrier) return "-";
  return size_text(static_cast<double>(one.point.bytes));
}

// Marks for caveats about a line.
std::string marks(const PointResult& one) {
  std::string text;
  if (!one.stable) text += '~';
  if (one.passed > 0) text += '=';
  if (one.below_bar()) text += '!';
  if (times_off(one).value_or(1) > mispredicted_from) text += misprediction_mark;
  return text;
}

// Removes the details of the build that some MPIs add after a comma.
std::string short_version(const std::string& version) {
  return version.substr(0, version.find(','));
}

std::vector<const PointResult*> of(const MpiBenchReport& report, Operation operation) {
  std::vector<const PointResult*> all;
  for (const PointResult& one : report.measured.results) {
    if (one.point.operation == operation) all.push_back(&one);
  }
  return all;
}

double mean_ratio(const std::vector<const PointResult*>& results) {
  std::vector<double> ratios;
  for (const PointResult* one : results) ratios.push_back(one->estimate.ratio);
  return bench::geometric_mean(ratios);
}

std::string operation_table(const MpiBenchReport& report, Operation operation, int columns) {
  const auto results = of(report, operation);
  if (results.empty()) return {};
  Table::Row heading = {std::string(name(operation)), report.has_peers() ? "best MPI" : "MPI",
                        "huddle", "ratio", "95 %"};
  if (report.has_peers()) heading.emplace_back("best MPI is");
  heading.emplace_back("");
  Table table(heading, mpi_look);
  for (const PointResult* one : results) {
    Table::Row row = {size_of(*one), time_text(one->native_ns), time_text(one->huddle_ns),
                      fmt::format("{:.2f}", one->estimate.ratio), interval_text(one->estimate)};
    if (report.has_peers()) row.push_back(one->rival);
    row.push_back(marks(*one));
    table.add(std::move(row));
  }
  std::string text = '\n' + table.text(columns);
  if (results.size() > 1) {
    text += fmt::format("  geometric mean of the ratios: {:.2f}\n", mean_ratio(results));
  }
  return text;
}

std::string timing_text(const MpiBenchReport& report) {
  switch (report.timing) {
    case bench::Timing::apart:
      return "timed from when the last rank enters a call until the last rank leaves it, with "
             "changing roots";
    case bench::Timing::osu:
      return "timed as consecutive calls like in the OSU micro-benchmarks: one root, the same "
             "data, the mean of all ranks";
    case bench::Timing::cold:
      return fmt::format(
          "the first {} of new processes, with new communicators and arrays",
          report.cold_calls == 1 ? "call" : fmt::format("{} calls", report.cold_calls));
  }
  return {};
}

std::string heading(const MpiBenchReport& report, int columns) {
  const bench::MpiReport& measured = report.measured;
  std::string text =
      wrap("",
           fmt::format("{}, {}", report.machine.name,
                       calibrated(report.machine) ? "calibrated"
                                                  : "not calibrated: algorithms are selected by "
                                                    "generic figures (run 'huddle calibrate')"),
           0, columns);
  text += wrap("",
               fmt::format("{} ranks{}; huddle under {}{}; {}", report.ranks,
                           measured.oversubscribed ? " (more than cores)" : "",
                           short_version(measured.versions[measured.under]),
                           report.in_heap ? "; buffers in the shared heap (heap on)"
                                          : "; buffers in private memory (heap off)",
                           timing_text(report)),
               0, columns);
  if (!report.has_peers()) return text;
  for (std::size_t i = 0; i < measured.mpis.size(); ++i) {
    text += wrap("  ",
                 fmt::format("{}: {}", measured.mpis[i].name, short_version(measured.versions[i])),
                 4, columns);
  }
  return text;
}

std::string legend(const MpiBenchReport& report, int columns) {
  const auto any = [&report](auto&& has) {
    return std::any_of(report.measured.results.begin(), report.measured.results.end(), has);
  };
  std::string text;
  if (any([](const PointResult& one) { return !one.stable; })) {
    text += wrap("", "~ unsteady: the interval was still wide when the time was over", 2, columns);
  }
  if (any([](const PointResult& one) { return one.passed > 0; })) {
    text += wrap("", "= the MPI ran the calls, for example because it was faster", 2, columns);
  }
  if (any([](const PointResult& one) { return one.below_bar(); })) {
    text += wrap(
        "", fmt::format("! slower than {} of the MPI's speed in every attempt", bench::least_ratio),
        2, columns);
  }
  const std::string error = prediction_error_text(report.prediction_error());
  if (!error.empty()) text += wrap("", error, 2, columns);
  return text.empty() ? text : '\n' + text;
}

// Returns the lower bound of each result; none if the machine is not calibrated or if ranks share
// its cores. Assumes that rank i runs on core i. Launchers may place ranks differently, for example
// on the sockets in turns; the bound is then approximate.
std::vector<double> floors(const MpiBenchReport& report) {
  const machine::Machine& machine = report.machine;
  std::vector<int> processors = first_pu_of_cores(machine.topology);
  const auto ranks = static_cast<std::size_t>(report.ranks);
  if (!machine::calibrated(machine) || ranks > processors.size()) return {};
  processors.resize(ranks);
  const node::RankLocality locality = node::locality(machine.topology, processors);
  const machine::CostModel model(machine);
  std::vector<double> all;
  for (const bench::PointResult& one : report.measured.results) {
    all.push_back(select::floor_ns(
        bench::request_of(one.point.operation, one.point.bytes, report.ranks), locality, model));
  }
  return all;
}

void print(const Console& console, const MpiBenchOptions& options, const MpiBenchReport& report) {
  for (const std::string& note : report.measured.notes) console.note("note: " + note);
  if (report.measured.results.empty()) return;
  if (!options.json.empty()) put_json(console, bench_mpi_json(report), options.json);
  if (options.json != json_on_stdout) console.print(bench_mpi_text(report, console.columns));
}

}  // namespace

bool MpiBenchReport::misses_bar() const {
  return std::any_of(measured.results.begin(), measured.results.end(),
                     [](const PointResult& one) { return one.below_bar(); });
}

std::optional<double> times_off(const PointResult& one) {
  if (one.choices.empty() || one.passed > 0) return std::nullopt;
  return times_off(one.choices.front().predicted_ns, one.huddle_ns);
}

PredictionError MpiBenchReport::prediction_error() const {
  std::vector<double> all;
  for (const PointResult& one : measured.results) {
    if (const auto off = times_off(one)) all.push_back(*off);
  }
  return cli::prediction_error(std::move(all));
}

std::string bench_mpi_text(const MpiBenchReport& report, int columns) {
  std::string text = heading(report, columns);
  for (const Operation operation : select::operations) {
    text += operation_table(report, operation, columns);
  }
  return text + legend(report, columns);
}

ExitCode bench_mpi(const Context& context, const MpiBenchOptions& options) {
  const Console& console = context.console;
  const machine::Discovery discovery = machine::discover_this_machine();
  const SelectedMachine machine = machine_in_question(context, discovery.topology);
  if (!machine.is_here()) {
    throw UsageError(machine.difference() + "; only this machine can be measured");
  }
  const std::string sizes = bench_sizes(options);
  const bool with_heap = wants_heap(context, machine.loaded.machine);
  const bench::MpiPlan plan = mpi_plan(options, sizes, machine.loaded.path, with_heap);
  refuse_crowded_real_time(plan.job_options.ranks, discovery.allowed.count());
  const Interrupt interrupt;
  PointProgress watcher(console, plan.points.size());
  MpiBenchReport report{.measured = bench::measure_points(plan, watcher, interrupt.requested()),
                        .machine = machine.loaded.machine,
                        .machine_file = machine.loaded.path,
                        .floor_ns = {},
                        .ranks = plan.job_options.ranks,
                        .in_heap = with_heap,
                        .quick = options.quick,
                        .timing = plan.timing,
                        .cold_calls = plan.cold_calls,
                        .effort = plan.effort,
                        .ops = options.ops,
                        .sizes = sizes,
                        .seconds = options.seconds,
                        .mpi = launcher_of(plan, options),
                        .mpi_library = options.mpi_library,
                        .peers = options.peers};
  // A lower bound applies only to calls that start after all ranks have arrived.
  if (plan.timing == bench::Timing::apart) report.floor_ns = floors(report);
  watcher.finish();
  print(console, options, report);
  if (report.measured.interrupted) {
    console.note(fmt::format("huddle: {}; results up to this point are shown above",
                             interrupt.signal_name()));
    interrupt.die();
  }
  const bool has_bar = report.has_peers() || report.timing == bench::Timing::cold;
  return has_bar && report.misses_bar() ? ExitCode::failure : ExitCode::fine;
}

}  // namespace huddle::cli

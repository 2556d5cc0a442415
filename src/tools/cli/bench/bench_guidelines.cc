// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench --guidelines: measures which performance guidelines an MPI and huddle violate.

#include <fmt/format.h>
#include <utility>

#include "common/error.h"
#include "model/machine/topology.h"
#include "tools/bench/mpi/measure_guidelines.h"
#include "tools/cli/bench/bench_options.h"
#include "tools/cli/bench/bench_plan.h"
#include "tools/cli/bench/guidelines_report.h"
#include "tools/cli/progress.h"
#include "tools/cli/selected_machine.h"

namespace huddle::cli {
namespace {

using bench::GuidelineVerdict;
using bench::Side;

constexpr int usual_guideline_ranks = 2;
// There are about forty guidelines, so fewer sizes and less time than for a comparison.
constexpr const char* usual_guideline_sizes = "8,1K,32K,1M";
constexpr const char* quick_guideline_sizes = "8,32K";
constexpr double usual_guideline_seconds = 1.5;
constexpr double quick_guideline_seconds = 0.6;
constexpr double percent_of_one = 0.01;

std::string guideline_sizes(const MpiBenchOptions& options) {
  if (!options.sizes.empty()) return options.sizes;
  return options.quick ? quick_guideline_sizes : usual_guideline_sizes;
}

// The interval is complete once it is as wide as the tolerance. Half of --seconds is reserved for
// repeating violations.
bench::Effort guideline_effort(const MpiBenchOptions& options, std::size_t points) {
  bench::Effort effort{options.quick ? quick_guideline_seconds : usual_guideline_seconds,
                       bench::usual_tolerance / 2};
  if (options.seconds > 0) {
    effort.point_seconds = static_cast<double>(options.seconds) / static_cast<double>(points) / 2;
  }
  return effort;
}

GuidelinesReport planned(const MpiBenchOptions& options) {
  GuidelinesReport report;
  report.ranks = options.ranks > 0 ? options.ranks : usual_guideline_ranks;
  report.quick = options.quick;
  report.dry_run = options.dry_run;
  report.ops = options.ops;
  report.sizes = guideline_sizes(options);
  report.points = guideline_points(bench::guidelines_from(options.ops),
                                   bench::sizes_from(report.sizes), report.ranks);
  report.effort = guideline_effort(options, report.points.size());
  report.tolerance = options.tolerance * percent_of_one;
  report.mpi_library = options.mpi_library;
  return report;
}

// Shows the points of a measurement in a progress bar.
class GuidelineProgress : public bench::GuidelineWatcher {
 public:
  GuidelineProgress(const Console& console, std::size_t points)
      : progress_(console, points), points_(points) {}

  void begin(const bench::GuidelinePoint& point, std::size_t number) override {
    progress_.begin_step(text(point.guideline));
    progress_.update(static_cast<double>(number) / static_cast<double>(points_));
  }
  void finish() { progress_.finish(); }

 private:
  Progress progress_;
  std::size_t points_;
};

void print_guidelines(const Console& console, const MpiBenchOptions& options,
                      const GuidelinesReport& report) {
  if (!report.dry_run && report.measured.results.empty()) return;
  if (!options.json.empty()) put_json(console, guidelines_json(report), options.json);
  if (options.json != json_on_stdout) console.print(guidelines_text(report, console.columns));
}

}  // namespace

ExitCode bench_guidelines(const Context& context, const MpiBenchOptions& options) {
  const Console& console = context.console;
  GuidelinesReport report = planned(options);
  const machine::Discovery discovery = machine::discover_this_machine();
  const SelectedMachine machine = machine_in_question(context, discovery.topology);
  if (!machine.is_here()) {
    throw UsageError(machine.difference() + "; only this machine can be measured");
  }
  report.machine = machine.loaded.machine;
  report.machine_file = machine.loaded.path;
  report.in_heap = wants_heap(context, report.machine);
  if (options.dry_run) {
    print_guidelines(console, options, report);
    return ExitCode::fine;
  }
  const bench::MpiPlan mpi = mpi_plan(options, report.sizes, report.machine_file, report.in_heap);
  refuse_crowded_real_time(report.ranks, discovery.allowed.count());
  report.timing = mpi.timing;
  report.mpi = launcher_of(mpi, options);
  const Interrupt interrupt;
  GuidelineProgress watcher(console, report.points.size());
  report.measured = bench::measure_guidelines({.mpi = mpi.mpis.front(),
                                               .job_options = mpi.job_options,
                                               .points = report.points,
                                               .timing = report.timing,
                                               .effort = report.effort,
                                               .tolerance = report.tolerance},
                                              watcher, interrupt.requested());
  watcher.finish();
  print_guidelines(console, options, report);
  if (report.measured.interrupted) {
    console.note(fmt::format("huddle: {}; results up to this point are shown above",
                             interrupt.signal_name()));
    interrupt.die();
  }
  return report.measured.count(Side::huddle, GuidelineVerdict::violated) > 0 ? ExitCode::failure
                                                                             : ExitCode::fine;
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "common/error.h"
#include "common/text.h"
#include "runtime/select/operation.h"
#include "tools/cli/ucx/ucx_report.h"
#include "tools/launch/program.h"

namespace huddle::cli {
namespace {

using Clock = std::chrono::steady_clock;

// An interval of fewer batches is not meaningful.
constexpr std::size_t least_batches = 8;

bench::JobOptions with(bench::JobOptions job_options, const std::vector<ucx::Setting>& settings) {
  for (std::string& line : ucx::lines_of(settings))
    job_options.environment.push_back(std::move(line));
  return job_options;
}

class BothWays {
 public:
  BothWays(const UcxRunPlan& plan, const std::vector<ucx::Setting>& settings,
           const std::atomic<bool>& stop)
      : effort_(plan.effort),
        before_(plan.mpi, plan.job_options, stop),
        after_(plan.mpi, with(plan.job_options, settings), stop) {}

  const bench::Job& job() const { return before_; }

  UcxRun measure(const bench::Point& point) {
    const auto end = Clock::now() + std::chrono::duration<double>(effort_.point_seconds);
    UcxRun run;
    run.point = point;
    // The warm-up touches buffers and makes connections; it is not counted.
    bench::batch_of(bench::Side::native, before_, point, bench::Timing::apart);
    bench::batch_of(bench::Side::native, after_, point, bench::Timing::apart);
    bench::batch_of(bench::Side::huddle, before_, point, bench::Timing::apart);
    bench::PairedSamples with_settings;
    bench::PairedSamples with_huddle;
    do {
      const bool after_first = with_settings.batches() % 2 != 0;
      if (after_first) with_settings.huddle_ns.push_back(batch(after_, point, run.after));
      with_settings.native_ns.push_back(batch(before_, point, run.before));
      with_huddle.huddle_ns.push_back(
          bench::batch_of(bench::Side::huddle, before_, point, bench::Timing::apart));
      if (!after_first) with_settings.huddle_ns.push_back(batch(after_, point, run.after));
      with_huddle.native_ns.push_back(with_settings.native_ns.back());
      run.estimate = bench::estimate(with_settings.ratios());
    } while (!is_enough(run.estimate) && Clock::now() < end);
    run.huddle_estimate = bench::estimate(with_huddle.ratios());
    run.before_ns = bench::middle_ns(with_settings.native_ns);
    run.after_ns = bench::middle_ns(with_settings.huddle_ns);
    run.huddle_ns = bench::middle_ns(with_huddle.huddle_ns);
    return run;
  }

 private:
  bool is_enough(const bench::Estimate& estimate) const {
    return estimate.batches >= least_batches && estimate.sure &&
           estimate.half_width() <= effort_.half_width;
  }

  std::vector<double> batch(bench::Job& job, const bench::Point& point, ucx::Traffic& sent) {
    const ucx::Traffic start = ucx::sent_so_far(system_);
    std::vector<double> ns = bench::batch_of(bench::Side::native, job, point, bench::Timing::apart);
    ucx::add(ucx::between(start, ucx::sent_so_far(system_)), sent);
    return ns;
  }

  System system_;
  bench::Effort effort_;
  bench::Job before_;
  bench::Job after_;
};

bool is_slower(const UcxRun& run) { return run.estimate.sure && run.estimate.high < least_ratio; }

std::string slower_text(const UcxRun& run) {
  return fmt::format("with it, {} of {} has {:.2f} of its speed without it ({:.2f} to {:.2f})",
                     select::name(run.point.operation),
                     size_text(static_cast<double>(run.point.bytes)), run.estimate.ratio,
                     run.estimate.low, run.estimate.high);
}

// Measures each setting alone at the point where all together were slowest. Returns all settings if
// none of them is slower alone.
std::vector<ucx::Omitted> to_blame(const UcxRunPlan& plan, const UcxRun& slowest,
                                   const std::vector<ucx::Setting>& settings,
                                   const std::atomic<bool>& stop) {
  std::vector<ucx::Omitted> blamed;
  for (const ucx::Setting& one : settings) {
    const UcxRun run = BothWays(plan, {one}, stop).measure(slowest.point);
    if (is_slower(run)) blamed.push_back({one.name, slower_text(run)});
  }
  if (!blamed.empty()) return blamed;
  for (const ucx::Setting& one : settings) {
    blamed.push_back({one.name, "together with the others: " + slower_text(slowest)});
  }
  return blamed;
}

// Assigns the traffic of a run to its side; the warm-up is not counted.
class RunTraffic : public bench::RunWatcher {
 public:
  void begin(bench::Side side, std::size_t runs_done) override {
    end();
    running_ = runs_done == 0 ? nullptr : &of(side);
  }
  void end() {
    ucx::Traffic now = ucx::sent_so_far(system_);
    if (running_ != nullptr) ucx::add(ucx::between(start_, now), *running_);
    start_ = std::move(now);
    running_ = nullptr;
  }
  ucx::Traffic& of(bench::Side side) { return side == bench::Side::native ? native_ : huddle_; }

 private:
  System system_;
  ucx::Traffic start_, native_, huddle_;
  ucx::Traffic* running_ = nullptr;
};

std::vector<std::string> environment_with(const std::vector<ucx::Setting>& settings) {
  std::vector<std::string> lines = ucx::lines_of(settings);
  for (char** line = environ; *line != nullptr; ++line) lines.emplace_back(*line);
  return lines;
}

}  // namespace

UcxProgramRuns run_program_both_ways(const std::vector<std::string>& command,
                                     const std::vector<ucx::Setting>& settings, int rounds,
                                     const std::atomic<bool>& stop) {
  const char* const path = std::getenv("PATH");
  const std::string_view search_path = path == nullptr ? "" : path;
  const auto program = launch::find_program(command.front(), search_path);
  if (!program) throw UsageError(launch::why_not_found(command.front()));
  RunTraffic traffic;
  UcxProgramRuns both{bench::compare_whole_runs({*program, command, environment_with({})},
                                                {*program, command, environment_with(settings)},
                                                rounds, traffic, stop),
                      {},
                      {}};
  traffic.end();
  both.before = traffic.of(bench::Side::native);
  both.after = traffic.of(bench::Side::huddle);
  return both;
}

UcxRuns run_both_ways(const UcxRunPlan& plan, std::vector<ucx::Setting>& settings,
                      bench::PointWatcher& watcher, const std::atomic<bool>& stop) {
  UcxRuns runs;
  {
    BothWays both(plan, settings, stop);
    runs.mpi = both.job().mpi().name;
    runs.version = both.job().version();
    runs.ranks = plan.job_options.ranks;
    runs.oversubscribed = both.job().oversubscribed();
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
      watcher.begin(plan.points[i], i);
      runs.runs.push_back(both.measure(plan.points[i]));
    }
  }
  const auto slowest = std::min_element(
      runs.runs.begin(), runs.runs.end(),
      [](const UcxRun& a, const UcxRun& b) { return a.estimate.high < b.estimate.high; });
  if (slowest == runs.runs.end() || !is_slower(*slowest)) return runs;
  runs.dropped = to_blame(plan, *slowest, settings, stop);
  settings.erase(std::remove_if(settings.begin(), settings.end(),
                                [&](const ucx::Setting& setting) {
                                  return std::any_of(
                                      runs.dropped.begin(), runs.dropped.end(),
                                      [&](const auto& one) { return one.name == setting.name; });
                                }),
                 settings.end());
  return runs;
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/measure_points.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "common/error.h"
#include "common/median.h"

namespace huddle::bench {
namespace {

using Jobs = std::vector<std::unique_ptr<Job>>;

constexpr int selection_rounds = 5;
// One that takes so many times as long as the best is not the best: seen at the first look, which
// warms up as well, or after two rounds.
constexpr double hopeless_at_first = 4;
constexpr double hopeless = 1.5;
constexpr int rounds_before_hopeless = 2;
// A point below the bar is measured again so many times.
constexpr int tries_again = 5;

// Peers that cannot be started are noted; huddle's own host has to come up.
Jobs start_all(const MpiPlan& plan, MpiReport& report, const std::atomic<bool>& stop) {
  Jobs jobs;
  for (std::size_t i = 0; i < plan.mpis.size(); ++i) {
    try {
      jobs.push_back(std::make_unique<Job>(plan.mpis[i], plan.job_options, stop));
    } catch (const FailureError& error) {
      if (i == plan.under) throw;
      report.notes.push_back(error.what());
      continue;
    }
    if (i == plan.under) report.under = jobs.size() - 1;
    report.mpis.push_back(jobs.back()->mpi());
    report.versions.push_back(jobs.back()->version());
  }
  report.crowded = jobs[report.under]->crowded();
  return jobs;
}

struct Selection {
  std::size_t best = 0;
  std::vector<double> median_ns;
};

// Those that took at most so many times as long as the best. pre: medians of `among` are there.
std::vector<std::size_t> within(double factor, const std::vector<std::size_t>& among,
                                const std::vector<double>& median_ns) {
  double best = median_ns[among.front()];
  for (const std::size_t i : among) best = std::min(best, median_ns[i]);
  std::vector<std::size_t> kept;
  for (const std::size_t i : among) {
    if (median_ns[i] <= factor * best) kept.push_back(i);
  }
  return kept;
}

// On samples of its own, so that the comparison does not gain from a lucky choice.
Selection select_rival(const Jobs& jobs, const Point& point, Timing timing) {
  Selection selection;
  std::vector<std::size_t> running;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    selection.median_ns.push_back(median_of(batch_of(Side::native, *jobs[i], point, timing)));
    running.push_back(i);
  }
  running = within(hopeless_at_first, running, selection.median_ns);
  std::vector<std::vector<std::vector<double>>> batches(jobs.size());
  for (int round = 0; round < selection_rounds; ++round) {
    if (round == rounds_before_hopeless) running = within(hopeless, running, selection.median_ns);
    for (const std::size_t i : running) {
      batches[i].push_back(batch_of(Side::native, *jobs[i], point, timing));
      selection.median_ns[i] = middle_ns(batches[i]);
    }
  }
  selection.best = within(1, running, selection.median_ns).front();
  return selection;
}

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// What the points of a plan may take.
class Budget {
 public:
  explicit Budget(const MpiPlan& plan)
      : plan_(plan),
        end_(Clock::now() +
             Seconds(plan.effort.point_seconds * static_cast<double>(plan.points.size()))) {}

  // Of this point; half of it is for measuring again what lies below the bar.
  Seconds share(std::size_t number) const {
    if (!plan_.is_bounded) return Seconds::max();
    const Seconds left = end_ - Clock::now();
    return std::max(Seconds(0), left / static_cast<double>(plan_.points.size() - number));
  }

 private:
  const MpiPlan& plan_;
  std::chrono::time_point<Clock, Seconds> end_;
};

// By `compare_by(effort)`, and again where that lies below the bar. `share`: from `start` on, for
// all.
template <class Compare>
PointResult measure(const MpiPlan& plan, std::chrono::time_point<Clock, Seconds> start,
                    Seconds share, Compare compare_by) {
  Effort effort = plan.effort;
  if (plan.is_bounded) effort.point_seconds = share.count() / 2;
  PointResult result = compare_by(effort);
  while (result.below_bar() && result.again.size() < tries_again && Clock::now() - start < share) {
    result.again.push_back(compare_by(effort).estimate);
  }
  return result;
}

PointResult measure_warm(const Jobs& jobs, const MpiPlan& plan, std::size_t under,
                         const Point& point, Seconds share) {
  const std::chrono::time_point<Clock, Seconds> start = Clock::now();
  Selection selection;
  if (jobs.size() > 1) selection = select_rival(jobs, point, plan.timing);
  PointResult result = measure(plan, start, share, [&](const Effort& effort) {
    return compare(*jobs[selection.best], *jobs[under], point, plan.timing, effort);
  });
  result.selection_ns = std::move(selection.median_ns);
  return result;
}

PointResult measure_cold(const MpiPlan& plan, const Point& point, Seconds share,
                         const std::atomic<bool>& stop) {
  return measure(plan, Clock::now(), share, [&](const Effort& effort) {
    return compare_cold(plan.mpis[plan.under], plan.job_options, point, plan.cold_calls, effort,
                        stop);
  });
}

}  // namespace

MpiReport measure_points(const MpiPlan& plan, PointWatcher& watcher,
                         const std::atomic<bool>& stop) {
  MpiReport report;
  try {
    Jobs jobs = start_all(plan, report, stop);
    const bool is_cold = plan.timing == Timing::cold;
    if (is_cold) jobs.clear();
    const Budget budget(plan);
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
      watcher.begin(plan.points[i], i);
      const Point& point = plan.points[i];
      report.results.push_back(
          is_cold ? measure_cold(plan, point, budget.share(i), stop)
                  : measure_warm(jobs, plan, report.under, point, budget.share(i)));
    }
  } catch (const Stopped&) {
    report.interrupted = true;
  }
  return report;
}

}  // namespace huddle::bench

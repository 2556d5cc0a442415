// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/bench/mpi/measure_points.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "common/arithmetic.h"
#include "common/error.h"
#include "runtime/team/tuner.h"

namespace huddle::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Calls of less than a microsecond are timed in series because reading the clock takes 20 ns.
constexpr std::size_t short_bytes = 1 << 10;
constexpr int short_calls = 16;
// If ranks share cores, the last rank to enter a call may find that the others have done their
// part, so a single call seems too short. A series of calls includes all of the work.
constexpr std::size_t medium_bytes = 64 << 10;
constexpr int oversubscribed_calls = 4;

// OSU's programs repeat calls that they define as small more often, and so does this benchmark. A
// stretch is a part of their timed loop, long enough to let a root run ahead.
constexpr std::size_t osu_small_bytes = 8 << 10;
constexpr int osu_small_calls = 200;
constexpr int osu_large_calls = 10;

constexpr int stretches = 10;
// A batch starts no stretch after this time, which is longer than a time slice of the scheduler.
constexpr std::int64_t batch_limit_ns = 8'000'000;
// A rank that shares a core has to wait for its time slice, so a batch has to last for many slices.
constexpr std::int64_t crowded_batch_limit_ns = 40'000'000;
constexpr int rounds_an_order = 4;

int calls_of(const Point& point, Timing timing, bool oversubscribed) {
  if (timing == Timing::osu) {
    return point.bytes <= osu_small_bytes ? osu_small_calls : osu_large_calls;
  }
  if (point.bytes <= short_bytes) return oversubscribed ? oversubscribed_calls : short_calls;
  return oversubscribed && point.bytes <= medium_bytes ? oversubscribed_calls : 1;
}

}  // namespace

Order order_of(const Point& point, Timing timing, bool oversubscribed) {
  return {.operation = point.operation,
          .bytes = point.bytes,
          .calls = calls_of(point, timing, oversubscribed),
          .stretches = stretches,
          .rounds = 1,
          .limit_ns = oversubscribed ? crowded_batch_limit_ns : batch_limit_ns,
          .timing = timing};
}

std::vector<double> each_call(std::vector<double> ns, int calls) {
  // Avoids times of 0, which a clock that counts nanoseconds may return.
  for (double& one : ns) one = std::max(one, 1.0) / calls;
  return ns;
}

namespace {

void add(Answer answer, int calls, PointResult& result) {
  result.passed += answer.passed;
  for (Answer::Batch& batch : answer.batches) {
    auto& side = batch.side == Side::native ? result.samples.native_ns : result.samples.huddle_ns;
    side.push_back(each_call(std::move(batch.ns), calls));
  }
}

// Measures at least one batch of each side, in alternating order.
void measure(Job& rival, Job& host, Order order, PointResult& result) {
  order.huddle_first = result.samples.batches() % 2 != 0;
  if (&rival == &host) {
    order.rounds = rounds_an_order;
    add(host.carry_out(order), order.calls, result);
    return;
  }
  Order native = order;
  native.huddle = false;
  Order huddle = order;
  huddle.native = false;
  if (order.huddle_first) add(host.carry_out(huddle), order.calls, result);
  add(rival.carry_out(native), order.calls, result);
  if (!order.huddle_first) add(host.carry_out(huddle), order.calls, result);
}

// Touches the buffers, and lets both sides set up their resources and huddle choose by measured
// times. Returns huddle's choices if its prediction applies to this timing.
std::vector<Choice> warm_up(Job& rival, Job& host, Order order) {
  const int calls =
      static_cast<int>(team::Tuner::calls_before_trial) + team::Tuner::calls_of_trial(order.bytes);
  order.stretches = 2 + calls / order.calls;
  order.explain = order.timing == Timing::apart;
  Answer answer = host.carry_out(order);
  if (&rival != &host) {
    order.huddle = false;
    order.explain = false;
    rival.carry_out(order);
  }
  return std::move(answer.choices);
}

}  // namespace

bool PointResult::below_bar() const {
  return estimate.high < least_ratio &&
         std::all_of(again.begin(), again.end(),
                     [](const Estimate& one) { return one.high < least_ratio; });
}

namespace {

// Calls pair(result), which adds at least one batch of each side, until the ratio is precise enough
// or the time is over.
template <class Pair>
void measure_until_known(PointResult& result, const Effort& effort, Pair pair) {
  const auto end = Clock::now() + std::chrono::duration<double>(effort.point_seconds);
  do {
    pair(result);
    result.estimate = estimate(result.samples.ratios());
    result.stable = result.estimate.batches >= least_batches && result.estimate.sure &&
                    result.estimate.half_width() <= effort.half_width;
  } while (!result.stable && Clock::now() < end);
  result.native_ns = middle_ns(result.samples.native_ns);
  result.huddle_ns = middle_ns(result.samples.huddle_ns);
}

}  // namespace

namespace {

unsigned long calls_of_huddle(const PointResult& result) {
  std::size_t timed = 0;
  for (const std::vector<double>& batch : result.samples.huddle_ns) timed += batch.size();
  return timed * static_cast<unsigned long>(result.calls);
}

}  // namespace

PointResult compare(Job& rival, Job& host, const Point& point, Timing timing,
                    const Effort& effort) {
  const Order order = order_of(point, timing, host.oversubscribed());
  PointResult result{.point = point, .calls = order.calls, .rival = rival.mpi().name};
  result.choices = warm_up(rival, host, order);
  measure_until_known(result, effort,
                      [&](PointResult& so_far) { measure(rival, host, order, so_far); });
  // A few calls went to the MPI because their times were compared.
  if (result.passed * 2 < calls_of_huddle(result)) result.passed = 0;
  return result;
}

PointResult compare_cold(const Mpi& mpi, const JobOptions& job_options, const Point& point,
                         int calls, const Effort& effort, const std::atomic<bool>& stop) {
  const Order order{
      .operation = point.operation, .bytes = point.bytes, .calls = calls, .timing = Timing::cold};
  const auto start = [&](Side side, PointResult& result) {
    Order one = order;
    one.native = side == Side::native;
    one.huddle = side == Side::huddle;
    JobOptions own = job_options;
    own.with_huddle = one.huddle;
    add(Job(mpi, own, stop).carry_out(one), calls, result);
  };
  PointResult result{.point = point, .calls = calls, .rival = mpi.name};
  measure_until_known(result, effort, [&](PointResult& so_far) {
    const bool huddle_first = so_far.samples.batches() % 2 != 0;
    start(huddle_first ? Side::huddle : Side::native, so_far);
    start(huddle_first ? Side::native : Side::huddle, so_far);
  });
  return result;
}

std::vector<double> batch_of(Side side, Job& job, const Point& point, Timing timing) {
  Order order = order_of(point, timing, job.oversubscribed());
  order.native = side == Side::native;
  order.huddle = side == Side::huddle;
  PointResult result;
  add(job.carry_out(order), order.calls, result);
  return order.native ? result.samples.native_ns.front() : result.samples.huddle_ns.front();
}

namespace {

using Jobs = std::vector<std::unique_ptr<Job>>;

constexpr int selection_rounds = 5;
// While the rival is selected, an MPI is dropped if its median exceeds the best one by these
// factors: by the first after its first batch, which is also its warm-up, and by the second after
// `rounds_before_hopeless` rounds.
constexpr double hopeless_at_first = 4;
constexpr double elimination_factor = 1.5;
constexpr int rounds_before_hopeless = 2;
// Maximum number of repetitions of a point that is below the bar.
constexpr int tries_again = 5;

// Starts a job for each MPI. Adds a note for each MPI that cannot be started; throws FailureError
// if huddle has to run under that MPI.
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
  report.oversubscribed = jobs[report.under]->oversubscribed();
  return jobs;
}

struct Selection {
  std::size_t best = 0;
  std::vector<double> median_ns;
};

// Returns those of `among` that took at most `factor` times as long as the fastest of them.
// Requires: `median_ns` contains the medians of `among`.
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

// Selects the fastest MPI. The comparison does not use these samples, because they would favour an
// MPI that was fast by chance.
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
    if (round == rounds_before_hopeless)
      running = within(elimination_factor, running, selection.median_ns);
    for (const std::size_t i : running) {
      batches[i].push_back(batch_of(Side::native, *jobs[i], point, timing));
      selection.median_ns[i] = middle_ns(batches[i]);
    }
  }
  selection.best = within(1, running, selection.median_ns).front();
  return selection;
}

using Seconds = std::chrono::duration<double>;

// The time limit of all points of a plan together.
class Budget {
 public:
  explicit Budget(const MpiPlan& plan)
      : plan_(plan),
        end_(Clock::now() +
             Seconds(plan.effort.point_seconds * static_cast<double>(plan.points.size()))) {}

  // Returns the time for this point. measure() uses half of it for repetitions if the point is
  // below the bar.
  Seconds share(std::size_t number) const {
    if (!plan_.is_bounded) return Seconds::max();
    const Seconds left = end_ - Clock::now();
    return std::max(Seconds(0), left / static_cast<double>(plan_.points.size() - number));
  }

 private:
  const MpiPlan& plan_;
  std::chrono::time_point<Clock, Seconds> end_;
};

// Calls `compare_by(effort)`, and calls it again while the point is below the bar. Together the
// calls have the time `share`, which begins at `start`.
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

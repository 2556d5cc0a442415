// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/bench/mpi/measure_guidelines.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/arithmetic.h"

namespace huddle::bench {
namespace {

using Clock = std::chrono::steady_clock;

// One batch measures the call of a guideline or its mock-up on one side.
struct Turn {
  Side side = Side::native;
  bool is_mockup = false;
};
constexpr std::array<Turn, 4> all_turns = {
    {{Side::native, false}, {Side::native, true}, {Side::huddle, false}, {Side::huddle, true}}};

// Successive calls of a series overlap, so both sides of a guideline are timed in series of the
// same length: that of the larger size.
Order order_of(const Turn& turn, const GuidelinePoint& point, Timing timing, bool oversubscribed) {
  const Guideline& guideline = point.guideline;
  const std::size_t larger = std::max(guideline.call_scale, guideline.mockup_scale);
  Order order = order_of({guideline.operation, larger * point.bytes}, timing, oversubscribed);
  order.bytes = point.bytes * (turn.is_mockup ? guideline.mockup_scale : guideline.call_scale);
  if (turn.is_mockup) order.mockup = guideline.mockup;
  order.native = turn.side == Side::native;
  order.huddle = turn.side == Side::huddle;
  return order;
}

void measure_turn(Job& job, const Turn& turn, const GuidelinePoint& point, Timing timing,
                  GuidelineResult& result) {
  const Order order = order_of(turn, point, timing, job.oversubscribed());
  const int repetitions = turn.is_mockup ? point.guideline.repetitions : 1;
  GuidelineSide& side = result.of(turn.side);
  Answer answer = job.carry_out(order);
  side.passed += answer.passed;
  for (Answer::Batch& batch : answer.batches) {
    std::vector<double> ns = each_call(std::move(batch.ns), order.calls);
    for (double& one : ns) one *= repetitions;
    auto& batches = turn.is_mockup ? side.samples.mockup_ns : side.samples.call_ns;
    batches.push_back(std::move(ns));
  }
}

// Returns whether more batches would hardly change the verdict.
bool is_known(const GuidelineSide& side, const GuidelinePlan& plan) {
  if (side.estimate.batches < least_batches || !side.estimate.sure) return false;
  return verdict_of(side.estimate, plan.tolerance) != GuidelineVerdict::open ||
         side.estimate.half_width() <= plan.effort.half_width;
}

// Measures until the verdicts on both sides are known or the time is over.
GuidelineResult measure_once(Job& job, const GuidelinePoint& point, const GuidelinePlan& plan,
                             std::mt19937_64& random) {
  GuidelineResult result{.point = point};
  const auto end = Clock::now() + std::chrono::duration<double>(plan.effort.point_seconds);
  std::array<Turn, all_turns.size()> turns = all_turns;
  bool known = false;
  do {
    std::shuffle(turns.begin(), turns.end(), random);
    for (const Turn& turn : turns) measure_turn(job, turn, point, plan.timing, result);
    known = true;
    for (GuidelineSide& side : result.sides) {
      side.estimate = estimate(side.samples.ratios());
      known = known && is_known(side, plan);
    }
  } while (!known && Clock::now() < end);
  return result;
}

}  // namespace

std::vector<double> GuidelineSamples::ratios() const {
  return PairedSamples{.native_ns = call_ns, .huddle_ns = mockup_ns}.ratios();
}

std::size_t GuidelineReport::count(Side side, GuidelineVerdict verdict) const {
  return static_cast<std::size_t>(std::count_if(
      results.begin(), results.end(),
      [&](const GuidelineResult& result) { return result.of(side).verdict == verdict; }));
}

GuidelineResult measure_guideline(Job& job, const GuidelinePoint& point, const GuidelinePlan& plan,
                                  std::mt19937_64& random) {
  // The first calls touch the buffers and let both sides set up their resources.
  GuidelineResult first;
  for (const Turn& turn : all_turns) measure_turn(job, turn, point, plan.timing, first);
  GuidelineResult result = measure_once(job, point, plan, random);
  const bool is_repeated =
      std::any_of(result.sides.begin(), result.sides.end(), [&plan](const GuidelineSide& side) {
        return verdict_of(side.estimate, plan.tolerance) == GuidelineVerdict::violated;
      });
  GuidelineResult again;
  if (is_repeated) again = measure_once(job, point, plan, random);
  for (const Side which : {Side::native, Side::huddle}) {
    GuidelineSide& side = result.of(which);
    side.call_ns = middle_ns(side.samples.call_ns);
    side.mockup_ns = middle_ns(side.samples.mockup_ns);
    side.verdict = verdict_of(side.estimate, plan.tolerance);
    if (side.verdict != GuidelineVerdict::violated) continue;
    side.again = again.of(which).estimate;
    side.verdict = verdict_of(side.estimate, *side.again, plan.tolerance);
  }
  return result;
}

GuidelineReport measure_guidelines(const GuidelinePlan& plan, GuidelineWatcher& watcher,
                                   const std::atomic<bool>& stop) {
  GuidelineReport report;
  report.mpi = plan.mpi.name;
  std::mt19937_64 random;
  try {
    Job job(plan.mpi, plan.job_options, stop);
    report.version = job.version();
    report.oversubscribed = job.oversubscribed();
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
      watcher.begin(plan.points[i], i);
      report.results.push_back(measure_guideline(job, plan.points[i], plan, random));
    }
  } catch (const Stopped&) {
    report.interrupted = true;
  }
  return report;
}

}  // namespace huddle::bench

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/calibrate/sampling.h"

#include <fmt/format.h>
#include <algorithm>

namespace huddle::calibrate {

Summary summary_of(const Samples& samples) {
  Summary whole = summarize(samples.ns);
  for (const auto& ns : samples.further_ns) whole = slowest_and_worst(whole, summarize(ns));
  return whole;
}

Measured measure(const Tolerance& tolerance, const Budget& budget,
                 const std::function<Samples(const Budget&)>& attempt) {
  Measured best;
  for (int tries = 1; tries <= 1 + most_repetitions; ++tries) {
    const Samples samples = attempt(budget);
    Measured now;
    now.summary = summary_of(samples);
    now.verdict = judge(now.summary, samples.threads, tolerance);
    now.threads = samples.threads;
    const bool better =
        now.usable() && (!best.usable() || now.verdict.badness < best.verdict.badness);
    if (better) best = now;
    best.attempts = tries;
    if ((best.usable() && best.verdict.steady()) || budget.spent()) break;
  }
  return best;
}

namespace {

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

MeasurementLog::Page& MeasurementLog::page(const std::string& step) {
  const auto found = std::find_if(pages_.begin(), pages_.end(),
                                  [&step](const Page& page) { return page.step == step; });
  if (found != pages_.end()) return *found;
  Page& fresh = pages_.emplace_back();
  fresh.step = step;
  return fresh;
}

void MeasurementLog::record(const std::string& step, const std::string& detail,
                            const Measured& measured) {
  Page& here = page(step);
  ++here.measurements;
  ++measurements_;
  if (!measured.usable()) {
    ++here.without_samples;
    return;
  }
  for (const ThreadUse& use : measured.threads) {
    Blame& blame = blame_[use.pu];
    ++blame.measurements;
    blame.disturbed += taken_away(use) > Tolerance{}.taken_away ? 1 : 0;
    blame.most = std::max(blame.most, taken_away(use));
  }
  if (measured.verdict.steady()) return;
  ++here.unsteady;
  if (here.unsteady > 1 && measured.verdict.badness <= here.worst.verdict.badness) return;
  here.worst = measured;
  here.worst_detail = detail;
}

void MeasurementLog::add(const std::string& step, const std::string& why) {
  page(step).remarks.push_back(why);
}

int MeasurementLog::doubtful() const {
  int sum = 0;
  for (const Page& page : pages_) sum += page.unsteady + page.without_samples;
  return sum;
}

std::string MeasurementLog::why(const Page& page) {
  std::vector<std::string> parts = page.remarks;
  if (page.without_samples > 0) {
    parts.push_back(fmt::format("{} of {} measurements did not run for lack of time",
                                page.without_samples, page.measurements));
  }
  if (page.unsteady > 0) {
    parts.push_back(fmt::format("{} of {} measurements unsteady; the worst, {} (attempts: {}): {}",
                                page.unsteady, page.measurements, page.worst_detail,
                                page.worst.attempts, joined(page.worst.verdict.reasons)));
  }
  return joined(parts);
}

std::vector<machine::Doubt> MeasurementLog::doubts() const {
  std::vector<machine::Doubt> doubts;
  for (const auto& [pu, blame] : blame_) {
    if (blame.disturbed == 0) continue;
    doubts.push_back(
        {fmt::format("hardware thread {}", pu),
         fmt::format(
             "other programs ran on it in {} of {} measurements, for up to {:.0f} % of the time",
             blame.disturbed, blame.measurements, 100 * blame.most)});
  }
  for (const Page& page : pages_) {
    std::string reason = why(page);
    if (!reason.empty()) doubts.push_back({page.step, std::move(reason)});
  }
  return doubts;
}

}  // namespace huddle::calibrate

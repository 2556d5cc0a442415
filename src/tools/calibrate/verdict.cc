// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/text.h"

namespace huddle::calibrate {
namespace {

double percent(double share) { return 100 * share; }

// Keeps count of the worst excess while reasons are collected.
class Judge {
 public:
  // Ranks repetitions also where nothing is beyond its limit.
  bool exceeds(double value, double limit) {
    verdict_.badness = std::max(verdict_.badness, value / limit);
    return value > limit;
  }
  void because(std::string reason) { verdict_.reasons.push_back(std::move(reason)); }
  Verdict verdict() && { return std::move(verdict_); }

 private:
  Verdict verdict_;
};

void judge_samples(Judge& judge, const Summary& summary, const Tolerance& tolerance) {
  if (judge.exceeds(summary.spread, tolerance.spread)) {
    judge.because(fmt::format("samples spread by {:.0f} %", percent(summary.spread)));
  }
  if (judge.exceeds(summary.lost, tolerance.lost)) {
    judge.because(
        fmt::format("{} of {} samples are outliers (the worst {} against {}) and take "
                    "{:.0f} % of the time",
                    summary.outliers, summary.count, time_text(summary.worst),
                    time_text(summary.median), percent(summary.lost)));
  }
  if (judge.exceeds(summary.drift, tolerance.drift)) {
    judge.because(fmt::format("parts of the run differ by {:.0f} %", percent(summary.drift)));
  }
}

}  // namespace

double taken_away(const ThreadUse& use) {
  if (use.wall_ns <= 0) return 0;
  return std::clamp(1 - use.cpu_ns / use.wall_ns, 0.0, 1.0);
}

Verdict judge(const Summary& summary, std::span<const ThreadUse> threads,
              const Tolerance& tolerance) {
  Judge judge;
  judge_samples(judge, summary, tolerance);
  for (const ThreadUse& use : threads) {
    const double share = taken_away(use);
    if (!judge.exceeds(share, tolerance.taken_away)) continue;
    judge.because(
        fmt::format("something else ran on cpu {} for {:.0f} % of the time ({} "
                    "involuntary switches)",
                    use.pu, percent(share), use.switched_away));
  }
  return std::move(judge).verdict();
}

std::string change_of_line(double before_ns, double after_ns) {
  const double change = std::max(after_ns / before_ns, before_ns / after_ns) - 1;
  if (change <= Tolerance{}.drift) return {};
  return fmt::format("{} at the end of the run, {} at its start: the machine has changed meanwhile",
                     time_text(after_ns), time_text(before_ns));
}

}  // namespace huddle::calibrate

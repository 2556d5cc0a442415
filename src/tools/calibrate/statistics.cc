// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/calibrate/statistics.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/arithmetic.h"
#include "common/text.h"

namespace huddle::calibrate {
namespace {

// Converts the median absolute deviation of normal noise to its standard deviation.
constexpr double deviation_of_normal = 1.4826;

double spread_of(std::span<const double> samples, double median) {
  std::vector<double> deviations;
  deviations.reserve(samples.size());
  for (const double sample : samples) deviations.push_back(std::abs(sample - median));
  return median > 0 ? deviation_of_normal * median_of(deviations) / median : 0;
}

double drift_of(std::span<const double> samples, double median) {
  if (samples.size() < drift_parts * least_samples_a_part || median <= 0) return 0;
  double drift = 0;
  for (std::size_t part = 0; part < drift_parts; ++part) {
    const std::size_t begin = samples.size() * part / drift_parts;
    const std::size_t end = samples.size() * (part + 1) / drift_parts;
    const double middle = median_of(samples.subspan(begin, end - begin));
    drift = std::max(drift, std::abs(middle / median - 1));
  }
  return drift;
}

}  // namespace

Summary summarize(std::span<const double> samples) {
  Summary summary;
  summary.count = samples.size();
  if (samples.empty()) return summary;
  summary.median = median_of(samples);
  summary.spread = spread_of(samples, summary.median);
  summary.drift = drift_of(samples, summary.median);
  const double limit = outlier_factor * summary.median;
  double total = 0;
  double beyond = 0;
  for (const double sample : samples) {
    total += sample;
    if (sample <= limit) continue;
    beyond += sample - limit;
    ++summary.outliers;
  }
  summary.worst = *std::max_element(samples.begin(), samples.end());
  summary.lost = total > 0 ? beyond / total : 0;
  return summary;
}

Summary slowest_and_worst(const Summary& a, const Summary& b) {
  return {.count = std::min(a.count, b.count),
          .median = std::max(a.median, b.median),
          .spread = std::max(a.spread, b.spread),
          .outliers = std::max(a.outliers, b.outliers),
          .worst = std::max(a.worst, b.worst),
          .lost = std::max(a.lost, b.lost),
          .drift = std::max(a.drift, b.drift)};
}

std::optional<double> slope(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  double sum_x = 0;
  double sum_y = 0;
  double sum_xx = 0;
  double sum_xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum_x += x[i];
    sum_y += y[i];
    sum_xx += x[i] * x[i];
    sum_xy += x[i] * y[i];
  }
  const double width = n * sum_xx - sum_x * sum_x;
  if (width <= 0) return std::nullopt;
  return (n * sum_xy - sum_x * sum_y) / width;
}

namespace {

double percent(double share) { return 100 * share; }

// Collects reasons and the largest excess over a limit.
class Judge {
 public:
  // Updates the badness even below the limit, so that repetitions can be ranked.
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
    judge.because(fmt::format("samples vary by {:.0f} %", percent(summary.spread)));
  }
  if (judge.exceeds(summary.lost, tolerance.lost)) {
    judge.because(fmt::format(
        "{} of {} samples are outliers (the worst {} instead of {}) and take {:.0f} % of the time",
        summary.outliers, summary.count, time_text(summary.worst), time_text(summary.median),
        percent(summary.lost)));
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
        fmt::format("other programs ran on hardware thread {} for {:.0f} % of the time ({} "
                    "involuntary context switches)",
                    use.pu, percent(share), use.switched_away));
  }
  return std::move(judge).verdict();
}

std::string change_of_line(double before_ns, double after_ns) {
  const double change = std::max(after_ns / before_ns, before_ns / after_ns) - 1;
  if (change <= Tolerance{}.drift) return {};
  return fmt::format("{} at the end of the run, {} at its start: the machine changed meanwhile",
                     time_text(after_ns), time_text(before_ns));
}

}  // namespace huddle::calibrate

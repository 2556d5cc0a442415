// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/arithmetic.h"
#include "common/text.h"

namespace huddle::mapping {
namespace {

// Statistics of the counts of all pairs, including those without events.
struct CountStatistics {
  double pairs = 0;
  double mean = 0;
  double squares = 0;  // sum of squared deviations from the mean
};

CountStatistics statistics_of(const Graph& counts) {
  CountStatistics statistics;
  const double elements = counts.size();
  statistics.pairs = elements * (elements - 1) / 2;
  if (statistics.pairs == 0) return statistics;
  double sum = 0;
  double squares = 0;
  for (const double count : counts.bytes) {  // contains each pair twice
    sum += count / 2;
    squares += count * count / 2;
  }
  statistics.mean = sum / statistics.pairs;
  statistics.squares = squares - sum * statistics.mean;
  return statistics;
}

bool all_alike(const Events& events, const EvidenceLimits& limits) {
  const CountStatistics statistics = statistics_of(events.counts);
  if (statistics.pairs < 2) return false;
  const double chance = events.dispersion * events.total();
  const double beyond_chance = statistics.squares - limits.chance_taken_off * chance;
  return beyond_chance / statistics.pairs < std::pow(limits.least_variation * statistics.mean, 2);
}

}  // namespace

std::string_view name_of(Finding finding) {
  switch (finding) {
    case Finding::sufficient:
      return "sufficient";
    case Finding::too_few_events:
      return "too few events";
    case Finding::all_alike:
      return "all alike";
  }
  return "";
}

Finding examine(const Events& events, const EvidenceLimits& limits) {
  const double least = limits.least_events_an_element * events.counts.size();
  if (events.total() < least) return Finding::too_few_events;
  return all_alike(events, limits) ? Finding::all_alike : Finding::sufficient;
}

std::string finding_text(const Events& events, std::string_view elements,
                         const EvidenceLimits& limits) {
  const std::string number = counted(std::llround(events.total()), "sampled event");
  switch (examine(events, limits)) {
    case Finding::sufficient:
      return "";
    case Finding::too_few_events:
      return fmt::format(
          "{} are too few to place {}: at least {:g} are required; profile a longer run", number,
          elements, limits.least_events_an_element * events.counts.size());
    case Finding::all_alike:
      return fmt::format("all pairs of {} share about the same amount, as far as {} can show",
                         elements, number);
  }
  return "";
}

double EvidenceLimits::confidence() const { return std::erfc(-deviations / std::sqrt(2.0)) / 2; }

double Gain::least_ns(const EvidenceLimits& limits) const {
  return std::max(ns - limits.deviations * deviation_ns, 0.0);
}

Gain gain_of(const Events& events, const SlotTree& tree, const Mapping& before,
             const Mapping& after) {
  Gain gain;
  double variance = 0;
  // A dispersion below that of independent events cannot be established from one run.
  const double dispersion = std::max(events.dispersion, 1.0);
  for (int v = 0; v < events.counts.size(); ++v) {
    const Graph::Row row = events.counts.row(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int other = row.neighbours[i];
      if (other < v) continue;
      const double before_ns = tree.ns(before[at(v)], before[at(other)]);
      const double saved_ns = before_ns - tree.ns(after[at(v)], after[at(other)]);
      gain.before_ns += row.bytes[i] * before_ns;
      gain.ns += row.bytes[i] * saved_ns;
      variance += dispersion * row.bytes[i] * saved_ns * saved_ns;
    }
  }
  gain.deviation_ns = std::sqrt(variance);
  return gain;
}

}  // namespace huddle::mapping

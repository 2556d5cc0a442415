// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Decides whether counted events justify preferring one placement to another. Shared by the agent
// that moves threads and `huddle map`.
#pragma once

#include <string>
#include <string_view>

#include "placement/mapping/mapping.h"

namespace huddle::mapping {

// Sampled events, such as page faults, as opposed to messages that are counted completely.
struct Events {
  Graph counts;  // events per pair, instead of bytes
  // Variance of a count divided by the count: 1 for independent events, more for bursts.
  double dispersion = 1;

  double total() const { return total_bytes(counts); }
};

struct EvidenceLimits {
  // With fewer events, the strongest pairs of a placement are mostly due to chance.
  double least_events_an_element = 10;
  // Lower limit of the standard deviation of the counts of all pairs, without the part due to
  // chance, divided by their mean. Below it, all pairs count as alike. It is 1.0 for two halves
  // without traffic between them.
  double least_variation = 0.5;
  // This multiple of the variance due to chance is subtracted, because that variance is an
  // estimate.
  double chance_taken_off = 2;
  // Number of standard deviations by which a gain is lowered before it counts.
  double deviations = 2;

  // Returns the probability that the real gain is at least the lowered one.
  double confidence() const;
};

enum class Finding { sufficient, too_few_events, all_alike };

// Returns "sufficient", "too few events" or "all alike".
std::string_view name_of(Finding finding);

// Returns whether the counts differ between pairs by more than chance explains.
Finding examine(const Events& events, const EvidenceLimits& limits);

// Returns why the events do not justify a placement of `elements`, for example "8 threads"; empty
// if they do.
std::string finding_text(const Events& events, std::string_view elements,
                         const EvidenceLimits& limits);

// The time that one placement saves compared with another if each event moves one cache line.
struct Gain {
  double ns = 0;
  double deviation_ns = 0;  // standard deviation of that figure
  double before_ns = 0;     // cost of all events in the other placement

  // Returns the gain of predicted time if each event moves `lines` cache lines. The times that the
  // placements wait for memory are exact, because they are not sampled.
  Gain with_memory(double lines, double memory_before_ns, double memory_after_ns) const {
    return {lines * ns + memory_before_ns - memory_after_ns, lines * deviation_ns,
            lines * before_ns + memory_before_ns};
  }
  // Returns the lower end of the confidence interval, at least 0.
  double least_ns(const EvidenceLimits& limits) const;
  // Returns the gain as a fraction of the cost before.
  double share() const { return before_ns > 0 ? ns / before_ns : 0; }
  double least_share(const EvidenceLimits& limits) const {
    return before_ns > 0 ? least_ns(limits) / before_ns : 0;
  }
};

// Returns what `after` saves compared with `before`.
Gain gain_of(const Events& events, const SlotTree& tree, const Mapping& before,
             const Mapping& after);

}  // namespace huddle::mapping

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Decides whether counted events justify preferring one placement to another. The agent that moves
// threads and `huddle map` apply the same test.
#pragma once

#include <string_view>

#include "placement/mapping/mapping.h"

namespace huddle::mapping {

// Events that were sampled, such as page faults, rather than counted completely as messages are.
struct Events {
  Graph counts;  // events of each pair, in the place of bytes
  // Variance of a count divided by the count: 1 if events are independent of each other, more if
  // they come in bursts.
  double dispersion = 1;

  double total() const { return total_bytes(counts); }
};

struct EvidenceLimits {
  // With fewer events, the strongest pairs of a placement are mostly chance.
  double least_events_an_element = 10;
  // Standard deviation of the counts of all pairs divided by their mean, chance removed, below
  // which all pairs communicate alike. Groups of half the elements that communicate only within
  // themselves have 1.0.
  double least_variation = 0.5;
  // This multiple of the squares that chance explains is removed, because those are an estimate.
  double chance_taken_off = 2;
  // Standard deviations by which a gain is lowered before it counts.
  double deviations = 2;
};

enum class Finding { sufficient, too_few_events, all_alike };

// Returns "sufficient", "too few events" or "all alike".
std::string_view name_of(Finding finding);

// Returns whether the counts differ by pair, beyond what chance explains.
Finding examine(const Events& events, const EvidenceLimits& limits);

// The time that a placement saves compared with another one, at one cache line for each event.
struct Gain {
  double ns = 0;
  double deviation_ns = 0;  // standard deviation of that figure
  double before_ns = 0;     // what all events cost in the other placement

  // Returns the lower end of the gain, at least 0.
  double least_ns(const EvidenceLimits& limits) const;
  // Returns the gain as a share of the cost before.
  double share() const { return before_ns > 0 ? ns / before_ns : 0; }
  double least_share(const EvidenceLimits& limits) const {
    return before_ns > 0 ? least_ns(limits) / before_ns : 0;
  }
};

// Returns what `after` saves compared with `before`.
Gain gain_of(const Events& events, const SlotTree& tree, const Mapping& before,
             const Mapping& after);

}  // namespace huddle::mapping

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The distance |i-j| between the ranks of a message's sender and receiver, averaged over all
// messages, by which Chen, Zhang, Zhang and Yuan characterize an algorithm.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/schedules/algorithms.h"

namespace huddle::schedules {

// A fraction in lowest terms.
class Fraction {
 public:
  // Requires: denominator > 0.
  Fraction(std::int64_t numerator, std::int64_t denominator);

  double value() const {
    return static_cast<double>(numerator_) / static_cast<double>(denominator_);
  }
  std::string text() const;  // "41/25", "3"
  bool operator==(const Fraction&) const = default;

 private:
  std::int64_t numerator_;
  std::int64_t denominator_;
};

// Returns the average distance, computed from all messages; nothing if there are no messages.
std::optional<Fraction> counted_distance(const Schedule& schedule);

// Returns the paper's closed form for an allgather algorithm, or huddle's extension of it to odd
// numbers of ranks; nothing if there is none.
std::optional<Fraction> closed_distance(const Algorithm& algorithm, const Call& call);
// Returns the value of the form as printed in the paper if that form is wrong: the printed form for
// Bruck has one term too many. Otherwise returns nothing.
std::optional<Fraction> printed_distance(const Algorithm& algorithm, const Call& call);

}  // namespace huddle::schedules

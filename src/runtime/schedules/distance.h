// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The distance of a message, as Chen, Zhang, Zhang and Yuan measure an algorithm by it: how far
// apart in the order of ranks those are who send to each other, |i - j|, on average over all
// messages. Counted from a schedule, and from closed forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/schedules/algorithms.h"

namespace huddle::schedules {

// In lowest terms.
class Fraction {
 public:
  // pre: denominator > 0
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

// Nothing where there are no messages.
std::optional<Fraction> counted_distance(const Schedule& schedule);

// What the paper, or our addition to it for odd numbers of ranks, says of an algorithm of
// allgather; nothing where there is no form, or none for so many ranks.
std::optional<Fraction> closed_distance(const Algorithm& algorithm, const Call& call);
// The same as the paper prints it where that is another: of Bruck, with a term too many.
std::optional<Fraction> printed_distance(const Algorithm& algorithm, const Call& call);

}  // namespace huddle::schedules

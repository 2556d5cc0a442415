// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Errors that are planted into a protocol at one place of its text, to see whether the checker
// finds them.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "check/checker/site.h"

namespace huddle::verify::checker {

enum class Fault : std::uint8_t {
  relaxed,        // neither acquire nor release
  dropped,        // not done at all
  one_more,       // the stored or added value
  one_less,       // the stored or added value
  too_early,      // waits for the value before the right one
  plain_compare,  // waits by >=, wrong where the numbers wrap
  wrong_owner,    // the next rank's memory: where it stores or waits
  wrong_source,   // the next rank's memory: where it reads
  unfenced,       // a non-temporal copy without the fence at its end
  fewer,          // the last byte, element or flag is left out
  swapped,        // left and right change places
};
inline constexpr std::array<std::string_view, 11> fault_names = {
    "relaxed",     "dropped",      "one more", "one less", "too early", "plain compare",
    "wrong owner", "wrong source", "unfenced", "fewer",    "swapped"};

constexpr std::string_view name(Fault fault) {
  return fault_names[static_cast<std::size_t>(fault)];
}

// Which faults make sense at a call.
class FaultSet {
 public:
  FaultSet(std::initializer_list<Fault> faults) {
    for (const Fault fault : faults) add(fault);
  }
  void add(Fault fault, bool when = true) {
    if (when) bits_.set(static_cast<std::size_t>(fault));
  }
  void add(const FaultSet& other) { bits_ |= other.bits_; }
  bool has(Fault fault) const { return bits_.test(static_cast<std::size_t>(fault)); }

 private:
  std::bitset<fault_names.size()> bits_;
};

struct Mutation {
  Site site;
  Fault fault = Fault::dropped;

  bool operator==(const Mutation&) const = default;
};

// "wait: relaxed, barrier.h:57 in arrive"
std::string text_of(const Mutation& mutation);

}  // namespace huddle::verify::checker

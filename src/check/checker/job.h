// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is to be checked, how thoroughly, and what came of it.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "check/checker/memory.h"
#include "check/checker/site.h"
#include "check/checker/store_buffer.h"
#include "runtime/context/sequence.h"

namespace huddle::check::checker {

// Errors that are planted into a protocol at one place of its text, to see whether the checker
// finds them.
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

class CheckedContext;

// So short of the wrap that the second operation passes it.
inline constexpr context::Sequence just_below_wrap = static_cast<context::Sequence>(-2);

struct Job {
  int ranks = 2;
  Sizes sizes;
  // What every word of Region::shared holds at the beginning.
  context::Sequence first = just_below_wrap;
  // Every pull and every push may fail.
  bool paths_may_fail = false;
  // Whose exposed memory others can reach; empty: nobody's.
  std::function<bool(int owner)> reachable;
  // What each rank does: makes its protocol object and runs some operations. Has to be
  // deterministic but for what it learns from its world, and must not poll in a loop: it waits.
  // What it throws is a failure.
  std::function<void(CheckedContext&)> body;
  // Fills the inputs, once. May be empty.
  std::function<void(Memory&)> prepare;
  // What is wrong after all ranks have ended; empty when nothing is. May be empty.
  std::function<std::string(const Memory&)> verify;
};

struct Options {
  // Arm's order allows everything that x86's does.
  StoreOrder order = StoreOrder::arm;
  // How often an execution may take the turn from a rank that could go on, or delay a store.
  int budget = 2;
  std::size_t max_executions = 500'000;
  // Operations on flags in one execution: more is a loop without end.
  std::size_t max_steps = 100'000;
  // How many of the last events a failure tells.
  std::size_t trace_events = 60;
  std::optional<Mutation> mutation = std::nullopt;
};

struct Failure {
  std::string what;
  std::string trace;
  // Repeats it: for replay().
  std::string choices;
};

struct Result {
  std::optional<Failure> failure;
  std::size_t executions = 0;
  // Different ones in which there was a choice; 0 for sample().
  std::size_t states = 0;
  // Every choice within the budget was tried; false where a limit cut it short.
  bool exhausted = false;

  bool passed() const { return !failure.has_value(); }
};

// For people: "1,204 states, 3,311 executions, exhausted", and the failure with its trace.
std::string text_of(const Result& result);

}  // namespace huddle::check::checker

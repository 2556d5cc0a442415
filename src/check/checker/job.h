// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The input and output of the model checker: the job to check, its options and its result.
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

// Errors that are planted at one call of a protocol to test whether the checker finds them.
enum class Fault : std::uint8_t {
  relaxed,        // without acquire or release
  dropped,        // not executed
  one_more,       // stores or adds one more
  one_less,       // stores or adds one less
  too_early,      // waits for one less than the right value
  plain_compare,  // waits with >=, which is wrong if numbers wrap
  wrong_owner,    // accesses the flag or memory of the next rank
  wrong_source,   // reads from the next rank's memory
  unfenced,       // a non-temporal copy without the fence at its end
  fewer,          // omits the last byte, element or flag
  swapped,        // exchanges left and right operand
};
inline constexpr std::array<std::string_view, 11> fault_names = {
    "relaxed",     "dropped",      "one more", "one less", "too early", "plain compare",
    "wrong owner", "wrong source", "unfenced", "fewer",    "swapped"};

constexpr std::string_view name(Fault fault) {
  return fault_names[static_cast<std::size_t>(fault)];
}

// The faults that can be planted at a call.
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

// Returns text such as "relaxed: wait, barrier.h:57 in arrive".
std::string text_of(const Mutation& mutation);

class CheckedContext;

// Initial value of sequence numbers that wrap at the second increment.
inline constexpr context::Sequence just_below_wrap = static_cast<context::Sequence>(-2);

struct Job {
  int ranks = 2;
  Sizes sizes;
  // Initial value of each word in Region::shared.
  context::Sequence first = just_below_wrap;
  // Allows every pull and push to fail.
  bool paths_may_fail = false;
  // Returns whether peers can map the exposed memory of `owner`. If empty, they cannot map any.
  std::function<bool(int owner)> reachable;
  // Body of each rank: creates its protocol object and runs some operations. It must be
  // deterministic except for what it reads through its context, and must wait instead of polling in
  // a loop. An exception is a failure.
  std::function<void(CheckedContext&)> body;
  // Fills the inputs before the first execution. May be empty.
  std::function<void(Memory&)> prepare;
  // Checks the results after all ranks have ended. Returns a description of the error, or an empty
  // string. May be empty.
  std::function<std::string(const Memory&)> verify;
};

struct Options {
  // Arm's order allows everything that x86's order allows.
  StoreOrder order = StoreOrder::arm;
  // Maximum number of costly choices per execution: preemptions of ranks that could continue, held
  // stores, and failures of pulls and pushes.
  int budget = 2;
  std::size_t max_executions = 500'000;
  // Maximum number of flag operations per execution; more indicates an endless loop.
  std::size_t max_steps = 100'000;
  // Number of most recent events in a failure report.
  std::size_t trace_events = 60;
  std::optional<Mutation> mutation = std::nullopt;
};

struct Failure {
  std::string what;
  std::string trace;
  // Argument for replay().
  std::string choices;
};

struct Result {
  std::optional<Failure> failure;
  std::size_t executions = 0;
  // Distinct states in which there was a choice; 0 for sample().
  std::size_t states = 0;
  // True if every choice within the budget was tried.
  bool exhausted = false;

  bool passed() const { return !failure.has_value(); }
};

// Returns for example "1,204 states, 3,311 executions, exhausted", and the failure with its trace.
std::string text_of(const Result& result);

}  // namespace huddle::check::checker

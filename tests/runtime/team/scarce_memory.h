// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Private memory that runs out when a test wants it to. Whoever links this has operators new and
// delete of its own, in the whole program, so that nothing is missed.
#pragma once

#include <functional>

namespace huddle::team {

inline constexpr long any_number = -1;

// What memory a thread gets.
struct Allowance {
  long number = any_number;  // allocations that go well,
  long refused = 1;          // and those behind them that do not; after these all do again

  bool is_any() const { return number == any_number; }
};

// From now on, for this thread. Returns what is left of that before: any number, where all that was
// to be refused has been.
Allowance allow(Allowance allowance);

// Runs `action` once, on this thread, before the allocation that follows `number` others: between
// two steps of a function, as another thread could. Does nothing if a sanitizer has operators of
// its own.
void before_allocation(long number, std::function<void()> action);
// Returns whether the action was still to be run, and forgets it.
bool cancel_action();

}  // namespace huddle::team

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Makes allocations of private memory fail on demand. Replaces operators new and delete in the
// whole program, so that all allocations are covered.
#pragma once

#include <functional>

namespace huddle::team {

inline constexpr long any_number = -1;

// The allocations of a thread that succeed and fail.
struct Allowance {
  long number = any_number;  // number of allocations that succeed
  long refused = 1;          // number of those after them that fail; later ones succeed again

  bool is_any() const { return number == any_number; }
};

// Sets this thread's allowance. Returns the rest of the last one: any_number after its failures.
Allowance allow(Allowance allowance);

// Runs `action` once on this thread, before the allocation that follows `number` others, to
// simulate another thread between two steps of a function. Does nothing if a sanitizer owns
// operator new.
void before_allocation(long number, std::function<void()> action);
// Cancels the action. Returns whether it had not run yet.
bool cancel_action();

}  // namespace huddle::team

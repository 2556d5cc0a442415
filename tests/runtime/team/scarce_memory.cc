// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "scarce_memory.h"

#include <cstdlib>
#include <functional>
#include <new>
#include <utility>

#include "sanitizer.h"

namespace {

// Global, because operator new has no other access to it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local huddle::team::Allowance left;

struct Action {
  long number = 0;
  std::function<void()> run;
};
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local Action action;

// Removes the action before it runs, because the action may allocate.
[[maybe_unused]] void run_action() {
  if (!action.run || action.number-- > 0) return;
  const std::function<void()> run = std::exchange(action.run, nullptr);
  run();
}

// Unused if the sanitizer defines the operators below.
[[maybe_unused]] bool is_refused() {
  if (left.is_any()) return false;
  if (left.number > 0) {
    --left.number;
    return false;
  }
  if (--left.refused == 0) left = {};
  return true;
}

}  // namespace

huddle::team::Allowance huddle::team::allow(Allowance allowance) {
  return std::exchange(left, allowance);
}

void huddle::team::before_allocation(long number, std::function<void()> run) {
  action = {number, std::move(run)};
}

bool huddle::team::cancel_action() { return std::exchange(action.run, nullptr) != nullptr; }

#if !defined(HUDDLE_SANITIZER_OWNS_NEW)
void* operator new(std::size_t bytes) {
  run_action();
  if (is_refused()) throw std::bad_alloc();
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Replaced, too, because a sanitizer's version would not match the operator delete below.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return ::operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/context/native_context.h"

#include <fmt/format.h>
#include <sched.h>

#include <optional>

#include "runtime/context/context.h"
#include "runtime/context/errors.h"
#include "runtime/memory/cpu.h"

namespace huddle::context {

static_assert(SingleCopyContext<NativeContext>);

namespace {

// Calls `look` until it returns a value, and waits in between.
template <class Look>
auto look_patiently(Waiting& waiting, Look look) {
  Wait wait(waiting);
  for (;;) {
    try {
      wait.spend();
    } catch (const PeerLost&) {
      // A value that the peer stored before it died still counts.
      if (const auto seen = look()) return *seen;
      throw;
    }
    if (const auto seen = look()) return *seen;
  }
}

}  // namespace

// The team, which has more information on the calls, replaces this with an exception whose message
// describes the difference.
void NativeContext::throw_calls_differ(int peer) {
  throw CallsDiffer(fmt::format("rank {} makes another call, or one with other arguments", peer),
                    false);
}

Sequence NativeContext::wait_longer(Flag word, Until until) {
  return look_patiently(*context_.waiting, [&]() -> std::optional<Sequence> {
    const Sequence seen = word.load(std::memory_order_acquire);
    return until.holds(seen) ? std::optional(seen) : std::nullopt;
  });
}

std::optional<int> NativeContext::find(std::span<const AwaitedFlag> awaited) {
  for (std::size_t i = 0; i < awaited.size(); ++i) {
    if (awaited[i].until.holds(load(awaited[i].flag))) return static_cast<int>(i);
  }
  return std::nullopt;
}

int NativeContext::wait_any(std::span<const AwaitedFlag> awaited) {
  for (int looks = context_.waiting->quick_looks(); looks > 0; --looks) {
    if (const auto found = find(awaited)) return *found;
    memory::spin_pause();
  }
  return look_patiently(*context_.waiting, [&] { return find(awaited); });
}

void NativeContext::wait_or_owner_death(Address place, Until until) {
  while (!until.holds(load(place)) && !context_.waiting->is_gone(place.owner())) sched_yield();
}

void NativeContext::prefetch_write(Address place, std::size_t bytes) {
  constexpr std::size_t line_bytes = 64;
  for (std::size_t at = 0; at < bytes; at += line_bytes) {
    memory::prefetch_for_write(address(place) + at);
  }
}

}  // namespace huddle::context

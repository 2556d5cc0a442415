// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The first thing that ranks tell each other when a team is made: which build of huddle each has.
// What they tell each other later may differ from build to build, in its size as well.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "runtime/team/bootstrap.h"

namespace huddle::team {

// The same 64 bytes in every version, now and later.
struct Greeting {
  std::uint64_t magic = expected_magic;
  std::array<char, 24> version{};  // "0.1.0", and zeros to the end
  std::uint32_t statement_bytes = 0;
  std::uint32_t card_bytes = 0;
  std::uint32_t decision_bytes = 0;
  std::uint32_t is_in_trouble = 0;  // 1: this rank has no memory to go on
  std::array<std::uint8_t, 16> spare{};

  static constexpr std::uint64_t expected_magic = 0x6D6165742D647568;  // "hud-team"

  static Greeting mine();
};
static_assert(sizeof(Greeting) == 64 && std::is_trivially_copyable_v<Greeting>);

// One allgather. After it all ranks know that they have the same build and go on, or all throw the
// same FailureError. Takes no memory, unless there are very many ranks.
void greet(const Bootstrap& bootstrap, const Greeting& mine = Greeting::mine());

}  // namespace huddle::team

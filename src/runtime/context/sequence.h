// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a flag holds: a number that counts up and begins again at 0 after the last one.
#pragma once

#include <cstdint>

namespace huddle::world {

using Sequence = std::uint32_t;

// Where fresh flags stand: so short of the end that every program of some length passes it, and an
// error there is found by every test and not by one user in a thousand.
inline constexpr Sequence first_sequence = static_cast<Sequence>(-64);

// Whether `seen` is `wanted` or later. Right as long as the two are less than 2^31 apart.
constexpr bool reached(Sequence seen, Sequence wanted) {
  return static_cast<std::int32_t>(seen - wanted) >= 0;
}

// What a rank waits for in a flag.
struct Until {
  enum class Kind : std::uint8_t { reached, equal };
  Kind kind = Kind::reached;
  Sequence value = 0;

  constexpr bool holds(Sequence seen) const {
    return kind == Kind::reached ? reached(seen, value) : seen == value;
  }
};
constexpr Until until_reached(Sequence value) { return {Until::Kind::reached, value}; }
constexpr Until until_equal(Sequence value) { return {Until::Kind::equal, value}; }

}  // namespace huddle::world

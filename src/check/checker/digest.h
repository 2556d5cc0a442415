// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// States as one number each: two that differ have different ones, but for one in billions.
#pragma once

#include <cstdint>

namespace huddle::verify::checker {

// Takes another number into a digest; every bit of both matters (the finalizer of splitmix64).
constexpr std::uint64_t mixed(std::uint64_t digest, std::uint64_t value) {
  std::uint64_t z = digest * 0x9E3779B97F4A7C15U + value + 0x632BE59BD9B4E019U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace huddle::verify::checker

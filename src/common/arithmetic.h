// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Units, and arithmetic helpers without dependencies.
#pragma once

#include <cstddef>
#include <span>

namespace huddle {

inline constexpr double ns_per_s = 1e9;

inline constexpr std::size_t KiB = 1024;
inline constexpr std::size_t MiB = 1024 * KiB;

// Converts the number of a rank, vertex or hardware thread to an index. Requires: number >= 0.
constexpr std::size_t at(int number) { return static_cast<std::size_t>(number); }

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Returns the middle value, or the mean of the two middle ones. Requires: at least one value.
double median_of(std::span<const double> values);

}  // namespace huddle

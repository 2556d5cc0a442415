// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Random numbers that depend only on the seed, unlike the distributions of the standard library,
// which differ between implementations.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace huddle::mapping {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  // Returns a number from 0 to end - 1.
  // Requires: end >= 1.
  int below(int end) { return static_cast<int>(next() % static_cast<std::uint64_t>(end)); }
  // Returns a number in [0, 1).
  double fraction() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

  void shuffle(std::vector<int>& values) {
    for (int i = static_cast<int>(values.size()) - 1; i > 0; --i) {
      std::swap(values[static_cast<std::size_t>(i)],
                values[static_cast<std::size_t>(below(i + 1))]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace huddle::mapping

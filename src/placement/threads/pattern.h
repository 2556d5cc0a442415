// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Programs with known sharing, against which the observers are measured.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace huddle::threads {

enum class Pattern {
  pairs,
  ring,
  groups,
  all_to_all,
  none,
  chain,
  change,         // pairs of neighbours; in the second half, distant pairs
  false_sharing,  // pairs that write to different words of the same cache lines
  read_mostly,    // pairs that only read, after initialization
};
inline constexpr std::array<std::string_view, 9> known_patterns = {
    "pairs", "ring",   "groups",        "all-to-all", "none",
    "chain", "change", "false-sharing", "read-mostly"};
inline constexpr int pattern_threads = 8;

inline std::optional<Pattern> pattern_named(std::string_view name) {
  for (std::size_t i = 0; i < known_patterns.size(); ++i) {
    if (known_patterns[i] == name) return static_cast<Pattern>(i);
  }
  return std::nullopt;
}

// Returns the memory regions of a pattern, as lists of the threads that use each.
inline std::vector<std::vector<int>> regions_of(Pattern pattern, bool is_second_half) {
  std::vector<std::vector<int>> regions;
  const auto add_pairs = [&regions](int step, int apart) {
    for (int a = 0; a + apart < pattern_threads; a += step) regions.push_back({a, a + apart});
  };
  switch (pattern) {
    case Pattern::pairs:
    case Pattern::false_sharing:
    case Pattern::read_mostly:
      add_pairs(2, 1);
      break;
    case Pattern::change:
      if (is_second_half) {
        add_pairs(1, pattern_threads / 2);
      } else {
        add_pairs(2, 1);
      }
      break;
    case Pattern::chain:
      add_pairs(1, 1);
      break;
    case Pattern::ring:
      add_pairs(1, 1);
      regions.push_back({0, pattern_threads - 1});
      break;
    case Pattern::groups:
      regions = {{0, 1, 2, 3}, {4, 5, 6, 7}};
      break;
    case Pattern::all_to_all:
      regions = {{0, 1, 2, 3, 4, 5, 6, 7}};
      break;
    case Pattern::none:
      for (int a = 0; a < pattern_threads; ++a) regions.push_back({a});
      break;
  }
  return regions;
}

}  // namespace huddle::threads

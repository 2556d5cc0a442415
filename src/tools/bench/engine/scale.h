// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How long a comparison lasts.
#pragma once

#include <algorithm>
#include <cstddef>

namespace huddle::bench {

struct Scale {
  bool quick = false;  // a first idea: fewer stretches

  int stretches(int usual) const { return quick ? (usual + 3) / 4 : usual; }
  // Calls that are timed one by one, in a round: fewer of those that move much.
  int single_calls(std::size_t bytes) const {
    constexpr std::size_t bytes_a_round = std::size_t{32} << 20;
    constexpr std::size_t least = 4;
    constexpr std::size_t most = 64;
    return stretches(
        static_cast<int>(std::clamp(bytes_a_round / std::max<std::size_t>(bytes, 1), least, most)));
  }
};

}  // namespace huddle::bench

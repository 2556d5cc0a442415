// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Algorithms that somebody has chosen for a program, as they are written:
// "bcast:pipelined,allreduce:4K-1M:slices".
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace huddle {

struct ForcedChoice {
  std::string operation;  // in small letters, without MPI's prefix
  std::string algorithm;  // in small letters
  // Of sizes from the one to the other, both counted in; without a range of all.
  std::size_t least_bytes = 0;
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();

  bool has_range() const {
    return least_bytes > 0 || most_bytes < std::numeric_limits<std::size_t>::max();
  }
  bool operator==(const ForcedChoice&) const = default;
};

// None for an empty text. Throws InputError, which does not say whose text it is, where it is
// written in another way. Whether there are such operations and algorithms is not looked at.
std::vector<ForcedChoice> forced_choices(std::string_view text);
// The one way of writing them that gives them back.
std::string text_of(const std::vector<ForcedChoice>& choices);

}  // namespace huddle

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Algorithms that the user forces, written as "bcast:pipelined,allreduce:4K-1M:slices".
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace huddle {

struct ForcedChoice {
  std::string operation;  // in lower case, without the prefix MPI_
  std::string algorithm;  // in lower case
  // Inclusive range of sizes in bytes; by default all sizes.
  std::size_t least_bytes = 0;
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();

  bool has_range() const {
    return least_bytes > 0 || most_bytes < std::numeric_limits<std::size_t>::max();
  }
  bool operator==(const ForcedChoice&) const = default;
};

// Parses a text; an empty one has no choices. Throws InputError if the syntax is wrong; the message
// does not name the source of the text. Does not check that the operations and algorithms exist.
std::vector<ForcedChoice> forced_choices(std::string_view text);
// Returns the canonical text of the choices, which forced_choices() parses to the same choices.
std::string text_of(const std::vector<ForcedChoice>& choices);

}  // namespace huddle

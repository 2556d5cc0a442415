// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a call writes on this rank, for whoever compares.
#pragma once

#include <optional>
#include <vector>

#include "mpi/back_end/calls/listed_side.h"
#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/message.h"

namespace huddle::mpi {

struct Written {
  void* address = nullptr;  // as the program names it in the call
  std::vector<Part> parts;  // none: nothing is written
  // Where the call finds its input there, and more than it writes: what it reads, which begins with
  // the only part that is written.
  std::optional<Part> read = std::nullopt;
};

inline std::vector<Part> all_blocks(const Side& side, int ranks) { return {side.all(ranks)}; }
inline std::vector<Part> all_blocks(const ListedSide& side, int ranks) {
  return side.blocks(ranks);
}

}  // namespace huddle::mpi

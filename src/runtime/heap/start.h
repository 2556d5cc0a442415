// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The heap of this process, where libhuddle_heap.so is preloaded: what it is asked for, and what it
// gives. Plain C across the two libraries, which may be of different versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/heap/wish.h"
#include "runtime/memory/heap.h"

extern "C" {

struct huddle_heap_wish {
  std::uint64_t version;
  std::size_t least_block_bytes;  // what is smaller comes from elsewhere
  std::size_t cap_bytes;
  std::size_t most_copied_bytes;  // by a fork
  bool checked;                   // it looks for errors
};

struct huddle_heap {
  const char* refusal;  // a sentence; null: the heap is there, and what follows speaks of it
  std::byte* base;
  std::size_t cap_bytes;
  int descriptor;
  std::uint64_t id[2];
  huddle::memory::HeapState* state;
};

// Starts the heap of this process, or finds the one that there is, whatever is wished then. Null
// where the wish is of another version. What it returns stays.
using huddle_heap_start_function = const huddle_heap*(const huddle_heap_wish*);
}

namespace huddle::heap {

// Changes with everything that the two libraries have in common: the structures above, and what
// they point to.
inline constexpr std::uint64_t version = 0x0002'7061'6568'6475;
inline constexpr const char* start_name = "huddle_heap_start";

struct Started {
  std::optional<memory::HeapFacts> facts;
  std::string refusal;  // why there are none; empty where the library is not preloaded
};

// What the preloaded library says.
Started start(const Wish& wish);

}  // namespace huddle::heap

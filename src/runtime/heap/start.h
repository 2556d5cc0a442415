// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The heap of this process, where libhuddle_heap.so is preloaded: what it is asked for, and what it
// gives. Plain C across the two libraries, which may be of different versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/system.h"
#include "runtime/memory/heap.h"

namespace huddle::heap {

// What the settings say of the shared heap.
struct Wish {
  std::size_t least_block_bytes = 0;  // what is smaller comes from elsewhere
  std::size_t cap_bytes = 0;
  std::size_t most_copied_bytes = 0;  // by a fork
  bool checked = false;               // it looks for errors
};

// value: of the setting with this key, as the table of settings takes it.
Wish wish_from(const std::function<std::string(std::string_view key)>& value);

// Limits of the system under which shared memory behaves differently from memory of malloc.

// Throws FailureError if the kernel does not overcommit memory (vm.overcommit_memory=2). It then
// charges a shared page when the page is first touched: a program that runs out of memory would die
// of SIGBUS there, long after a malloc that should have failed.
void check_overcommit(const System& system);

// Returns how many bytes a fork may copy: what the settings allow, but only a small part of the
// memory that this process may use. A fork of ordinary memory copies nothing at first, so a copy
// must not be what exceeds the limit of a cgroup and ends the job.
std::size_t most_copied_bytes(std::size_t set_bytes, const System& system,
                              std::size_t machine_bytes);

}  // namespace huddle::heap

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

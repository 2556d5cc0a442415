// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The interface between huddle and libhuddle_heap.so, which is preloaded to provide the heap of a
// process. It is plain C, because the two libraries may have different versions.
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

// The settings of the shared heap.
struct Request {
  std::size_t least_block_bytes = 0;  // smaller blocks come from the program's usual malloc
  std::size_t cap_bytes = 0;
  std::size_t most_copied_bytes = 0;  // maximum that one fork copies
  bool checked = false;               // detect invalid accesses (memory::Heap::Care)
};

// Reads the settings. value(key) returns the value of the setting with this key, as text.
Request request_from(const std::function<std::string(std::string_view key)>& value);

// Returns the maximum number of bytes that a fork may copy: `set_bytes` from the settings, but at
// most a small fraction of the memory that this process may use. Other memory is copied on write
// only; therefore this copy must not exceed the memory limit of a cgroup and end the job.
std::size_t most_copied_bytes(std::size_t set_bytes, const System& system,
                              std::size_t machine_bytes);

}  // namespace huddle::heap

extern "C" {

struct huddle_heap_request {
  std::uint64_t version;
  std::size_t least_block_bytes;  // smaller blocks come from the program's usual malloc
  std::size_t cap_bytes;
  std::size_t most_copied_bytes;  // maximum that one fork copies
  bool checked;                   // detect invalid accesses
};

struct huddle_heap {
  const char* refusal;  // why there is no heap; null if the members below describe one
  std::byte* base;
  std::size_t cap_bytes;
  int descriptor;
  std::uint64_t id[2];
  huddle::memory::HeapState* state;
};

// Starts the heap of this process, or returns the existing one regardless of the request. Returns
// null if the request has another version. The result stays valid until the process ends.
using huddle_heap_start_function = const huddle_heap*(const huddle_heap_request*);
}

namespace huddle::heap {

// Must change whenever the structures above, or those that they point to, change.
inline constexpr std::uint64_t version = 0x0002'7061'6568'6475;
inline constexpr const char* start_name = "huddle_heap_start";

struct Started {
  std::optional<memory::HeapFacts> facts;
  std::string refusal;  // why there is no heap; empty if there is one, or no library
};

// Requests the heap from the preloaded library. Returns the heap, or why there is none.
Started start(const Request& request);

}  // namespace huddle::heap

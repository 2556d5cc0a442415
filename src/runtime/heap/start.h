// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The interface between huddle and libhuddle_heap.so, which is preloaded to provide the heap of a
// process. Plain C, because the two libraries may have different versions.
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
  std::size_t least_block_bytes = 0;  // smaller blocks come from the next malloc
  std::size_t cap_bytes = 0;
  std::size_t most_copied_bytes = 0;  // by one fork
  bool checked = false;               // detect invalid accesses (memory::Heap::Care)
};

// value: returns the value of the setting with this key, in the syntax of the table of settings.
Request request_from(const std::function<std::string(std::string_view key)>& value);

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

struct huddle_heap_request {
  std::uint64_t version;
  std::size_t least_block_bytes;  // smaller blocks come from the next malloc
  std::size_t cap_bytes;
  std::size_t most_copied_bytes;  // by one fork
  bool checked;                   // detect invalid accesses
};

struct huddle_heap {
  const char* refusal;  // the reason why there is no heap; null: there is one, described below
  std::byte* base;
  std::size_t cap_bytes;
  int descriptor;
  std::uint64_t id[2];
  huddle::memory::HeapState* state;
};

// Starts the heap of this process, or returns the existing one regardless of the request. Returns
// null if the request has another version. The result stays valid.
using huddle_heap_start_function = const huddle_heap*(const huddle_heap_request*);
}

namespace huddle::heap {

// Changes with all that the two libraries share: the structures above and what they point to.
inline constexpr std::uint64_t version = 0x0002'7061'6568'6475;
inline constexpr const char* start_name = "huddle_heap_start";

struct Started {
  std::optional<memory::HeapFacts> facts;
  std::string refusal;  // why there is no heap; empty if the library is not preloaded
};

// Returns the answer of the preloaded library.
Started start(const Request& request);

}  // namespace huddle::heap

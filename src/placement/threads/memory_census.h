// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Counts the memory of a process whose sharing write protection does not show.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace huddle::threads {

struct MemoryCensus {
  std::uint64_t resident_bytes = 0;  // all memory; reads of it are not observed
  std::uint64_t shared_bytes = 0;    // writable mappings that other processes may share
  std::uint64_t huge_bytes = 0;      // private memory in huge pages

  // Keeps the larger of each two figures.
  void keep_most(const MemoryCensus& other);
  bool operator==(const MemoryCensus&) const = default;
};

// Returns what the process has now. Takes some nanoseconds for each page that is not huge.
MemoryCensus count_memory(pid_t process);

// Returns the bytes of writable shared mappings, by the lines of /proc/PID/maps. Leaves out devices
// and what the kernel maps for its own interfaces.
std::uint64_t shared_mapping_bytes(const std::vector<std::string>& maps);

}  // namespace huddle::threads

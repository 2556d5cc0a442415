// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Finds the memory through which the threads of a program communicate: counts the events of each
// page, and names the pages by the mappings and variables that contain them.
#pragma once

#include <sys/types.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/system.h"
#include "placement/threads/memory_map.h"
#include "placement/threads/touch.h"

namespace huddle::threads {

// Threads a < b, and the number of times that a page passed from one of them to the other.
struct PairEvents {
  int a = 0;
  int b = 0;
  std::uint64_t events = 0;

  bool operator==(const PairEvents&) const = default;
};

// Pages of one mapping that the same threads share.
struct SharedRange {
  AddressRange addresses;  // whole pages
  // The mapping as in /proc/PID/maps: a file, "[heap]" or "[stack]"; empty for anonymous memory.
  // Nothing if it is not known, for example because the program unmapped the memory before huddle
  // read its mappings.
  std::optional<std::string> mapping = {};
  // Variables of the program or of a library that contain the lowest and the highest address that
  // was accessed; empty if unknown.
  std::vector<std::string> symbols = {};
  std::uint64_t events = 0;
  // Most events first. If many pairs share a page, only some events of frequent pairs.
  std::vector<PairEvents> pairs = {};
};

struct SharedMemory {
  std::uint64_t events = 0;              // of all pages
  std::vector<SharedRange> ranges = {};  // with the most events, most first
};

class PageSharing {
 public:
  static constexpr std::size_t default_blocks = std::size_t{1} << 14U;  // about 2 MB

  explicit PageSharing(System system = System(), std::size_t most_blocks = default_blocks);

  // Counts an event for each partner. `partners`: threads with which the touch counts as
  // communication. Reads the mappings of a process with several threads if the address is in none
  // that is known.
  // Requires: the process and the offset of the touch.
  void take(const Touch& touch, std::span<const int> partners);
  // Allows the mappings of each process to be read again, for addresses that are still unknown.
  // Removes the events of threads whose numbers have been reassigned.
  void take(const Look& look);

  // Returns the ranges with the most events between `threads`. Reads the symbols of their files.
  SharedMemory memory_of(std::span<const int> threads) const;

  // Returns the number of blocks, which bounds the memory.
  std::size_t blocks() const { return blocks_.size(); }

  // Maximum number of ranges in the result.
  static constexpr std::size_t most_ranges = 8;

 private:
  // Pairs per block: each pair with more than a seventh of the events of its block is counted.
  static constexpr std::size_t pairs_a_block = 6;
  struct Pair {
    std::int16_t a = -1, b = -1;
    std::uint32_t events = 0;
  };
  // A page or, once there are too many, an aligned group of pages.
  struct Block {
    std::uint64_t lowest = 0, highest = 0;  // accessed addresses
    std::array<Pair, pairs_a_block> pairs;
    std::uint64_t others = 0;  // events that are not in `pairs`
  };
  struct Process {
    pid_t number = 0;
    int first_thread = 0;
    bool has_threads = false;  // more than one
    bool may_read = true;      // the mappings, before the next look
    bool is_refused = false;   // its mappings are too many, and are never read again
    MemoryMap map = {};
  };
  class Report;

  static void count(Block& block, Pair pair);
  void forget(std::span<const int> threads);
  std::uint64_t address_of(const Touch& touch) const;
  Process& process_of(const Touch& touch);
  void read_map(Process& process, const Touch& touch);
  void keep_used(const MemoryMap& old, std::uint64_t space, MemoryMap& map) const;
  void double_blocks();

  System system_;
  std::size_t most_blocks_;
  std::uint64_t page_bytes_;
  unsigned shift_ = 0;                          // a block has 1 << shift_ pages
  std::map<std::uint64_t, Block> blocks_;       // by the number of the first page
  std::map<std::uint64_t, Process> processes_;  // by the high bits of their page numbers
  std::size_t map_entries_ = 0;                 // of all processes
};

}  // namespace huddle::threads

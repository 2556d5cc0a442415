// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a protocol asked of the machine, in numbers.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "runtime/memory/copy.h"

namespace huddle::verify::counting {

struct RankCounts {
  std::size_t loads = 0;  // of flags, that saw something new: looks that saw the same do not count
  std::size_t stores = 0;
  std::size_t updates = 0;  // atomic read-modify-writes
  std::size_t fences = 0;
  std::size_t orderings = 0;  // of what the caller stored non-temporally
  std::size_t wakes = 0;
  std::array<std::size_t, memory::copy_kernels.size()> copied_bytes{};  // by kernel
  std::size_t reduced_bytes = 0;                                        // of results
  std::size_t asked_bytes = 0;  // that are to be written next (prefetch_write)
  std::size_t pulls = 0;
  std::size_t pulled_bytes = 0;
  std::size_t pushes = 0;
  std::size_t pushed_bytes = 0;

  RankCounts& operator-=(const RankCounts& less);
  bool operator==(const RankCounts&) const = default;
};

struct Counts {
  explicit Counts(int ranks)
      : of(static_cast<std::size_t>(ranks)), transfers_(of.size() * of.size()), ranks_(of.size()) {}

  // Lines that went from the cache of one rank to that of another.
  std::size_t transfers(int from, int to) const { return transfers_[at(from, to)]; }
  std::size_t all_transfers() const;
  void add_transfer(int from, int to) { ++transfers_[at(from, to)]; }

  // What a job did more than one that does the same but for its end. pre: as many ranks.
  Counts& operator-=(const Counts& less);
  bool operator==(const Counts&) const = default;

  std::vector<RankCounts> of;  // each rank

 private:
  std::size_t at(int from, int to) const {
    return static_cast<std::size_t>(from) * ranks_ + static_cast<std::size_t>(to);
  }

  std::vector<std::size_t> transfers_;
  std::size_t ranks_;
};

}  // namespace huddle::verify::counting

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is known of each word that is used as a flag: what its value carries, and who touched it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "world/checker/clock.h"

namespace huddle::world::checker {

inline constexpr std::size_t flag_bytes = 4;

struct Flag {
  // Which store gave it its value; 0 for none.
  std::uint64_t version = 0;
  // What is known to whoever acquires that value.
  Clock carried;
  // When each rank last did it, 0 for never.
  std::vector<Time> loads;
  std::vector<Time> stores;
  std::vector<Time> updates;  // atomic read-modify-writes

  std::uint32_t execution = 0;
};

class Flags {
 public:
  // Of so many bytes of shared memory.
  Flags(int ranks, std::size_t bytes)
      : ranks_(ranks), slots_((bytes + flag_bytes - 1) / flag_bytes, no_slot) {}

  void forget() { ++execution_; }

  // pre: a multiple of flag_bytes.
  Flag& at(std::size_t byte) {
    int& slot = slots_[byte / flag_bytes];
    if (slot == no_slot) {
      slot = static_cast<int>(flags_.size());
      flags_.emplace_back();
    }
    Flag& flag = flags_[static_cast<std::size_t>(slot)];
    if (flag.execution != execution_) renew(flag);
    return flag;
  }

  // Calls visit(flag, first byte) for each flag of this execution that has bytes in the range.
  template <class Visit>
  void each_in(std::size_t first, std::size_t n, Visit visit) const {
    if (n == 0) return;
    for (std::size_t word = first / flag_bytes; word <= (first + n - 1) / flag_bytes; ++word) {
      if (slots_[word] == no_slot) continue;
      const Flag& flag = flags_[static_cast<std::size_t>(slots_[word])];
      if (flag.execution == execution_) visit(flag, word * flag_bytes);
    }
  }

 private:
  static constexpr int no_slot = -1;

  void renew(Flag& flag) const {
    const auto ranks = static_cast<std::size_t>(ranks_);
    flag.version = 0;
    flag.carried = Clock(2 * ranks_);
    flag.loads.assign(ranks, 0);
    flag.stores.assign(ranks, 0);
    flag.updates.assign(ranks, 0);
    flag.execution = execution_;
  }

  int ranks_;
  std::vector<int> slots_;  // of each word
  std::vector<Flag> flags_;
  std::uint32_t execution_ = 1;
};

}  // namespace huddle::world::checker

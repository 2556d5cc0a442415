// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Race detection: records which rank accessed each byte of reachable memory, and when. Two ranks
// race if they access the same byte, one of them writes, and the earlier access does not happen
// before the later one (as in the C++ memory model). Flags may be accessed concurrently, but two
// stores to a flag must be ordered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "check/checker/memory.h"

namespace huddle::check::checker {

// Logical time of an agent, which advances after the agent has published; 0 means never.
using Time = std::uint32_t;

// Vector clock: the latest time of each agent that a rank knows of. Each rank has two agents: the
// rank itself, and its non-temporal stores, which are unordered until a fence.
class Clock {
 public:
  Clock() = default;
  explicit Clock(int agents) : times_(static_cast<std::size_t>(agents), 0) {}

  Time at(int agent) const { return times_[static_cast<std::size_t>(agent)]; }
  bool knows(int agent, Time time) const { return at(agent) >= time; }
  void set(int agent, Time time) { times_[static_cast<std::size_t>(agent)] = time; }
  void clear() { std::fill(times_.begin(), times_.end(), 0); }
  // Adds everything that `other` knows of.
  // Requires: both clocks have the same agents.
  void combine(const Clock& other) {
    for (std::size_t i = 0; i < times_.size(); ++i) {
      times_[i] = std::max(times_[i], other.times_[i]);
    }
  }
  std::uint64_t digest() const {
    std::uint64_t digest = 0;
    for (const Time time : times_) digest = mixed(digest, time);
    return digest;
  }

 private:
  std::vector<Time> times_;
};

inline constexpr std::size_t flag_bytes = 4;

// State of a word that is used as a flag: the knowledge that its value carries, and the ranks'
// accesses.
struct Flag {
  bool is_stored = false;
  // The knowledge that a rank gains when it acquires the value.
  Clock carried;
  // Time of each rank's last access of this kind, 0 for never.
  std::vector<Time> loads;
  std::vector<Time> stores;
  std::vector<Time> updates;  // atomic read-modify-writes

  std::uint32_t execution = 0;
};

class Flags {
 public:
  // For a memory of `bytes` bytes.
  Flags(int ranks, std::size_t bytes)
      : ranks_(ranks),
        slots_((bytes + flag_bytes - 1) / flag_bytes, no_slot),
        uses_(slots_.size()) {}

  // Begins a new execution. Keeps the recorded uses of the words, which are a property of the job.
  void forget() { ++execution_; }

  // Most flags are stored by one rank only and never accessed as data. Accesses to them cannot
  // conflict, so they need not advance a rank's time. All other flags are contested. Each of these
  // functions records a use and returns whether the word is a contested flag.
  bool note_load(std::size_t byte) {
    return note(byte, [](Use& use) { use.is_flag = true; });
  }
  bool note_store(std::size_t byte, int rank) {
    return note(byte, [rank](Use& use) {
      use.is_flag = true;
      use.has_writers = use.has_writers || (use.writer != nobody && use.writer != rank);
      use.writer = rank;
    });
  }
  void note_data(std::size_t first, std::size_t n) {
    if (n == 0) return;
    for (std::size_t word = first / flag_bytes; word <= (first + n - 1) / flag_bytes; ++word) {
      note(word * flag_bytes, [](Use& use) { use.is_data = true; });
    }
  }
  // Returns whether a word has turned out to be contested since the last call. Earlier results must
  // then be computed again.
  bool take_news() { return std::exchange(news_, false); }

  // Requires: `byte` is a multiple of flag_bytes.
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
  // Returns a digest of what the flags carry.
  std::uint64_t digest() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      const Flag& flag = flags_[i];
      if (flag.execution == execution_ && flag.is_stored) sum += mixed(i, flag.carried.digest());
    }
    return sum;
  }

 private:
  static constexpr int no_slot = -1;
  static constexpr int nobody = -1;

  struct Use {
    bool is_flag = false;
    bool is_data = false;
    bool has_writers = false;  // stored by more than one rank
    int writer = nobody;

    bool is_contested() const { return is_flag && (is_data || has_writers); }
  };

  template <class Change>
  bool note(std::size_t byte, Change change) {
    Use& use = uses_[byte / flag_bytes];
    const bool was_contested = use.is_contested();
    change(use);
    news_ = news_ || use.is_contested() != was_contested;
    return use.is_contested();
  }

  void renew(Flag& flag) const {
    const auto ranks = static_cast<std::size_t>(ranks_);
    flag.is_stored = false;
    flag.carried = Clock(2 * ranks_);
    flag.loads.assign(ranks, 0);
    flag.stores.assign(ranks, 0);
    flag.updates.assign(ranks, 0);
    flag.execution = execution_;
  }

  int ranks_;
  std::vector<int> slots_;  // by word
  std::vector<Use> uses_;   // by word
  bool news_ = false;
  std::vector<Flag> flags_;
  std::uint32_t execution_ = 1;
};

struct Conflict {
  int other = 0;             // rank that made the earlier access
  std::size_t byte = 0;      // offset in the whole memory
  bool two_writers = false;  // both ranks stored the flag
};

class Accesses {
 public:
  Accesses(int ranks, std::size_t bytes, Flags& flags);

  void forget();

  // Each function records an access by `rank`, whose vector clock is `clock`, and returns the first
  // conflict, if any.
  std::optional<Conflict> read(int rank, std::size_t first, std::size_t n, const Clock& clock);
  // Attributes the write to `agent`, one of the rank's two agents, at that agent's `time`.
  std::optional<Conflict> write(int rank, int agent, Time time, std::size_t first, std::size_t n,
                                const Clock& clock);
  std::optional<Conflict> load(int rank, std::size_t byte, const Clock& clock);
  std::optional<Conflict> store(int rank, std::size_t byte, const Clock& clock);
  std::optional<Conflict> update(int rank, std::size_t byte, const Clock& clock);

 private:
  // State of one byte. Reads are represented by one agent and time as long as each reader knew of
  // the previous one, else by all ranks' times in `crowds_`.
  struct Cell {
    Time write_time = 0;
    Time read_time = 0;
    std::uint16_t writer = 0;
    std::uint16_t reader = 0;
    std::uint32_t crowd = 0;  // index of its part of crowds_, 0 for none
    bool crowded = false;
  };

  bool is_known(int rank, int agent, Time time, const Clock& clock) const;
  bool write_is_known(int rank, const Cell& cell, const Clock& clock) const;
  std::optional<int> unknown_reader(int rank, const Cell& cell, const Clock& clock) const;
  std::optional<int> unknown(int rank, const std::vector<Time>& times, const Clock& clock) const;
  std::optional<Conflict> flag_conflict(int rank, std::size_t first, std::size_t n,
                                        const Clock& clock, bool loads_too) const;
  std::optional<Conflict> data_conflict(int rank, std::size_t byte, const Clock& clock,
                                        bool reads_too) const;
  void note_read(int rank, Cell& cell, const Clock& clock);
  Time* crowd(const Cell& cell) { return &crowds_[cell.crowd * static_cast<std::size_t>(ranks_)]; }
  const Time* crowd(const Cell& cell) const {
    return &crowds_[cell.crowd * static_cast<std::size_t>(ranks_)];
  }

  int ranks_;
  Flags& flags_;
  std::vector<Cell> cells_;
  std::vector<Time> crowds_;
  DirtyLines dirty_;
};

}  // namespace huddle::check::checker

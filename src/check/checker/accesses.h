// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who touched each byte of memory when, where others reach it. Two ranks that touch the same bytes,
// one of them writing, without the later one knowing of the earlier one, race; flags may be touched
// by many, but stored by one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "check/checker/clock.h"
#include "check/checker/dirty_lines.h"
#include "check/checker/flags.h"

namespace huddle::verify::checker {

struct Conflict {
  int other = 0;             // the rank that was there before
  std::size_t byte = 0;      // of all memory
  bool two_writers = false;  // both stored the flag
};

class Accesses {
 public:
  Accesses(int ranks, std::size_t bytes, Flags& flags);

  void forget();

  // Each notes an access by `rank`, who knows `clock`, and returns the first conflict.
  std::optional<Conflict> read(int rank, std::size_t first, std::size_t n, const Clock& clock);
  // As `agent` of the rank, at that agent's `time`.
  std::optional<Conflict> write(int rank, int agent, Time time, std::size_t first, std::size_t n,
                                const Clock& clock);
  std::optional<Conflict> load(int rank, std::size_t byte, const Clock& clock);
  std::optional<Conflict> store(int rank, std::size_t byte, const Clock& clock);
  std::optional<Conflict> update(int rank, std::size_t byte, const Clock& clock);

 private:
  // Of one byte. Reads are one agent's and time as long as each reader knew of the one before, else
  // all ranks' times in `crowds_`.
  struct Cell {
    Time write_time = 0;
    Time read_time = 0;
    std::uint16_t writer = 0;
    std::uint16_t reader = 0;
    std::uint32_t crowd = 0;  // which part of crowds_, 0 for none
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

}  // namespace huddle::verify::checker

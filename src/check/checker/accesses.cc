// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "check/checker/accesses.h"

namespace huddle::check::checker {

Accesses::Accesses(int ranks, std::size_t bytes, Flags& flags)
    : ranks_(ranks), flags_(flags), cells_(bytes), dirty_(bytes) {
  forget();
}

void Accesses::forget() {
  dirty_.clean_all([this](std::size_t first, std::size_t n) {
    for (std::size_t byte = first; byte < first + n; ++byte) cells_[byte] = Cell{};
  });
  crowds_.assign(static_cast<std::size_t>(ranks_), 0);  // index 0 means none
}

std::optional<Conflict> Accesses::read(int rank, std::size_t first, std::size_t n,
                                       const Clock& clock) {
  dirty_.mark(first, n);
  if (const auto conflict = flag_conflict(rank, first, n, clock, false)) return conflict;
  for (std::size_t byte = first; byte < first + n; ++byte) {
    Cell& cell = cells_[byte];
    if (!write_is_known(rank, cell, clock)) return Conflict{cell.writer % ranks_, byte};
    note_read(rank, cell, clock);
  }
  return std::nullopt;
}

std::optional<Conflict> Accesses::write(int rank, int agent, Time time, std::size_t first,
                                        std::size_t n, const Clock& clock) {
  dirty_.mark(first, n);
  if (const auto conflict = flag_conflict(rank, first, n, clock, true)) return conflict;
  for (std::size_t byte = first; byte < first + n; ++byte) {
    if (const auto conflict = data_conflict(rank, byte, clock, true)) return conflict;
    Cell& cell = cells_[byte];
    cell.writer = static_cast<std::uint16_t>(agent);
    cell.write_time = time;
    // A rank that knows of this write also knows of the reads before it.
    cell.read_time = 0;
    cell.crowded = false;
  }
  return std::nullopt;
}

std::optional<Conflict> Accesses::load(int rank, std::size_t byte, const Clock& clock) {
  flags_.at(byte).loads[static_cast<std::size_t>(rank)] = clock.at(rank);
  for (std::size_t i = byte; i < byte + flag_bytes; ++i) {
    if (const auto conflict = data_conflict(rank, i, clock, false)) return conflict;
  }
  return std::nullopt;
}

std::optional<Conflict> Accesses::store(int rank, std::size_t byte, const Clock& clock) {
  Flag& flag = flags_.at(byte);
  flag.stores[static_cast<std::size_t>(rank)] = clock.at(rank);
  if (const auto other = unknown(rank, flag.stores, clock)) return Conflict{*other, byte, true};
  if (const auto other = unknown(rank, flag.updates, clock)) return Conflict{*other, byte, true};
  for (std::size_t i = byte; i < byte + flag_bytes; ++i) {
    if (const auto conflict = data_conflict(rank, i, clock, true)) return conflict;
  }
  return std::nullopt;
}

// Updates by several ranks need not be ordered.
std::optional<Conflict> Accesses::update(int rank, std::size_t byte, const Clock& clock) {
  Flag& flag = flags_.at(byte);
  flag.updates[static_cast<std::size_t>(rank)] = clock.at(rank);
  if (const auto other = unknown(rank, flag.stores, clock)) return Conflict{*other, byte, true};
  for (std::size_t i = byte; i < byte + flag_bytes; ++i) {
    if (const auto conflict = data_conflict(rank, i, clock, true)) return conflict;
  }
  return std::nullopt;
}

// A rank knows its own accesses, including its non-temporal stores.
bool Accesses::is_known(int rank, int agent, Time time, const Clock& clock) const {
  return agent == rank || agent == rank + ranks_ || clock.knows(agent, time);
}

bool Accesses::write_is_known(int rank, const Cell& cell, const Clock& clock) const {
  return cell.write_time == 0 || is_known(rank, cell.writer, cell.write_time, clock);
}

std::optional<int> Accesses::unknown_reader(int rank, const Cell& cell, const Clock& clock) const {
  if (cell.crowded) {
    const Time* times = crowd(cell);
    for (int other = 0; other < ranks_; ++other) {
      if (!is_known(rank, other, times[other], clock)) return other;
    }
    return std::nullopt;
  }
  if (cell.read_time == 0 || is_known(rank, cell.reader, cell.read_time, clock)) {
    return std::nullopt;
  }
  return cell.reader;
}

std::optional<int> Accesses::unknown(int rank, const std::vector<Time>& times,
                                     const Clock& clock) const {
  for (int other = 0; other < ranks_; ++other) {
    if (!is_known(rank, other, times[static_cast<std::size_t>(other)], clock)) return other;
  }
  return std::nullopt;
}

// Returns a conflict of a plain (not atomic) access with another rank's use of these bytes as
// flags.
std::optional<Conflict> Accesses::flag_conflict(int rank, std::size_t first, std::size_t n,
                                                const Clock& clock, bool loads_too) const {
  std::optional<Conflict> found;
  flags_.each_in(first, n, [&](const Flag& flag, std::size_t byte) {
    auto other = unknown(rank, flag.stores, clock);
    if (!other) other = unknown(rank, flag.updates, clock);
    if (!other && loads_too) other = unknown(rank, flag.loads, clock);
    if (other && !found) found = Conflict{*other, byte};
  });
  return found;
}

std::optional<Conflict> Accesses::data_conflict(int rank, std::size_t byte, const Clock& clock,
                                                bool reads_too) const {
  const Cell& cell = cells_[byte];
  if (!write_is_known(rank, cell, clock)) return Conflict{cell.writer % ranks_, byte};
  if (!reads_too) return std::nullopt;
  if (const auto other = unknown_reader(rank, cell, clock)) return Conflict{*other, byte};
  return std::nullopt;
}

void Accesses::note_read(int rank, Cell& cell, const Clock& clock) {
  const Time now = clock.at(rank);
  if (!cell.crowded &&
      (cell.read_time == 0 || is_known(rank, cell.reader, cell.read_time, clock))) {
    cell.reader = static_cast<std::uint16_t>(rank);
    cell.read_time = now;
    return;
  }
  if (!cell.crowded) {
    const auto ranks = static_cast<std::size_t>(ranks_);
    if (cell.crowd == 0) {
      cell.crowd = static_cast<std::uint32_t>(crowds_.size() / ranks);
      crowds_.resize(crowds_.size() + ranks);
    }
    std::fill_n(crowd(cell), ranks_, 0);
    crowd(cell)[cell.reader] = cell.read_time;
    cell.crowded = true;
  }
  crowd(cell)[rank] = now;
}

}  // namespace huddle::check::checker

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One run of a counted job: its memory, its caches and its schedule of ranks.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <vector>

#include "check/checker/memory.h"
#include "check/counting/counted_context.h"
#include "runtime/context/fiber.h"

namespace huddle::check::counting {

// Coherent caches of unlimited size, one per rank. Each line records its last writer and the ranks
// that have read it since; a write invalidates all other copies.
class Caches {
 public:
  // For a memory of `bytes` bytes.
  Caches(int ranks, std::size_t bytes, Counts& counts);

  // Access a range of bytes. Each line that the rank does not hold and another rank has written
  // counts as a transfer. A line that no rank has written comes from memory and is not counted.
  void read(int rank, std::size_t first, std::size_t n);
  void write(int rank, std::size_t first, std::size_t n);

 private:
  static constexpr std::size_t line_bytes = 64;
  static constexpr int nobody = -1;

  struct Line {
    int writer = nobody;
    std::vector<bool> holders;  // by rank
  };

  template <class Touch>
  void each_line(std::size_t first, std::size_t n, Touch touch);
  void fetch(int rank, Line& line);

  std::vector<Line> lines_;
  Counts& counts_;
};

class Round {
 public:
  explicit Round(const Job& job);

  void run();
  const Counts& counts() const { return counts_; }

  // Used by CountedContext.
  int ranks() const { return job_.ranks; }
  bool lets_reach() const { return job_.reachable; }
  RankCounts& of(int rank) { return counts_.of[static_cast<std::size_t>(rank)]; }
  // Switches to the next rank after this one did something that others may have waited for.
  void pass_on(int rank);
  // Switches to the next rank after this one saw nothing new. Throws if all ranks are blocked.
  void pass_on_in_vain(int rank);
  context::Sequence look(int rank, context::Address flag);
  void put(int rank, context::Address flag, context::Sequence value);
  std::span<const std::byte> read(int rank, context::Address place, std::size_t n);
  void write(int rank, context::Address place, std::span<const std::byte> bytes);

 private:
  // Thrown to unwind a rank's stack after another rank has failed.
  struct Abandoned {};

  int live(int rank);
  int next_after(int rank) const;
  void give_turn(int rank);
  void require_reach(int rank, context::Address place, std::size_t n) const;
  bool is_shared(context::Address place) const { return place.region() == context::Region::shared; }

  const Job& job_;
  checker::Memory memory_;
  Counts counts_;
  Caches caches_;
  context::Fibers fibers_;
  std::vector<bool> begun_;
  std::vector<bool> ended_;
  std::vector<std::map<std::size_t, context::Sequence>>
      last_seen_;          // by rank, then by offset of the flag
  int looks_in_vain_ = 0;  // since the last operation with an effect
  std::exception_ptr error_;
};

}  // namespace huddle::check::counting

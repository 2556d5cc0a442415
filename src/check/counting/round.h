// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One run of a counted job: its memory, its caches, and whose turn it is.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <vector>

#include "check/checker/memory.h"
#include "check/counting/counted_context.h"
#include "runtime/context/fiber.h"

namespace huddle::check::counting {

// Who holds each line: a cache of endless size for every rank, kept coherent. A line has the rank
// that wrote it last and those that have read it since; a write takes it from all others.
class Caches {
 public:
  // For so many bytes.
  Caches(int ranks, std::size_t bytes, Counts& counts);

  // Each counts a transfer for every line that the rank does not hold and another has written. What
  // nobody has written comes from memory and counts nothing.
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

  // What CountedContext asks for.
  int ranks() const { return job_.ranks; }
  bool lets_reach() const { return job_.reachable; }
  RankCounts& of(int rank) { return counts_.of[static_cast<std::size_t>(rank)]; }
  // After this rank has done something that others may have waited for.
  void pass_on(int rank);
  // After it has looked in vain.
  void pass_on_in_vain(int rank);
  context::Sequence look(int rank, context::Address flag);
  void put(int rank, context::Address flag, context::Sequence value);
  std::span<const std::byte> read(int rank, context::Address place, std::size_t n);
  void write(int rank, context::Address place, std::span<const std::byte> bytes);

 private:
  // Thrown through a rank's frames when another one has failed.
  struct Abandoned {};

  int live(int rank);
  int next_after(int rank) const;
  void give_turn(int rank);
  void require_reach(int rank, context::Address place, std::size_t n) const;
  bool is_shared(context::Address place) const { return place.region == context::Region::shared; }

  const Job& job_;
  checker::Memory memory_;
  Counts counts_;
  Caches caches_;
  context::Fibers fibers_;
  std::vector<bool> begun_;
  std::vector<bool> ended_;
  std::vector<std::map<std::size_t, context::Sequence>>
      last_seen_;          // of each rank, by place of the flag
  int looks_in_vain_ = 0;  // since somebody did something
  std::exception_ptr error_;
};

}  // namespace huddle::check::counting

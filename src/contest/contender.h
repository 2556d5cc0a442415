// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One way to do something that is timed: huddle's, or a bare one written by hand. Made before the
// ranks are forked: each rank has a copy of its own, and what they share lies in shared pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "memory/heap.h"
#include "team/team.h"

namespace huddle::contest {

// A rank, as contenders see it.
struct Here {
  int rank = 0;
  int ranks = 1;
  team::Team* team = nullptr;
  // This rank's own memory, touched by it; the same for all contenders, so that none has the better
  // pages. As many bytes as the contest moves.
  std::span<std::byte> source;
  std::span<std::byte> target;
  const memory::Heap* heap = nullptr;  // where they lie, in a contest of heaps
  std::uint32_t stamp = 0;  // another one in each stretch: data of one are wrong in the next
};

class Contender {
 public:
  Contender() = default;
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  virtual ~Contender() = default;

  // Each is called on all ranks. Between one and the next all wait for all.
  virtual void set_up(const Here&) {}
  // Before a stretch: new data.
  virtual void prepare(const Here&) {}
  // What is timed.
  virtual void run(const Here& here, int calls) = 0;
  // After a stretch: whether what came out is right.
  virtual bool is_right(const Here&) { return true; }
  // How it goes about it, in words; asked on the first rank when all is over.
  virtual std::string how(const Here&) { return {}; }
};

}  // namespace huddle::contest

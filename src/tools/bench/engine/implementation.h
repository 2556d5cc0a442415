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

#include "runtime/memory/heap.h"
#include "runtime/team/team.h"

namespace huddle::bench {

// A rank, as implementations see it.
struct RankContext {
  int rank = 0;
  int ranks = 1;
  team::Team* team = nullptr;
  // This rank's own memory, touched by it; the same for all implementations, so that none has the
  // better pages. As many bytes as the comparison moves.
  std::span<std::byte> source;
  std::span<std::byte> target;
  const memory::Heap* heap = nullptr;  // where they lie, in a comparison of heaps
  std::uint32_t stamp = 0;  // another one in each stretch: data of one are wrong in the next
};

class Implementation {
 public:
  Implementation() = default;
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  virtual ~Implementation() = default;

  // Each is called on all ranks. Between one and the next all wait for all.
  virtual void set_up(const RankContext&) {}
  // Before a stretch: new data.
  virtual void prepare(const RankContext&) {}
  // What is timed.
  virtual void run(const RankContext& here, int calls) = 0;
  // After a stretch: whether what came out is right.
  virtual bool is_right(const RankContext&) { return true; }
  // How it goes about it, in words; asked on the first rank when all is over.
  virtual std::string how(const RankContext&) { return {}; }
};

}  // namespace huddle::bench

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The blocks of one side of a call, as bytes without gaps: each where the program has it or, where
// its type has gaps, in a copy.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/back_end/calls/listed_side.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/underlying_mpi.h"
#include "runtime/node/blocks.h"

namespace huddle::mpi {

class DenseBlocks {
 public:
  // pre: the side is right.
  DenseBlocks(const UnderlyingMpi& real, Comm comm, const ListedSide& side, int ranks);
  DenseBlocks(const DenseBlocks&) = delete;
  DenseBlocks& operator=(const DenseBlocks&) = delete;

  // What the offsets are counted from. Never the same for blocks that do not share any bytes: by
  // that a team tells what is in place.
  std::byte* base() { return base_; }
  node::Blocks blocks() const { return node::Blocks::listed(blocks_); }
  std::byte* data(int rank) { return base_ + blocks_[static_cast<std::size_t>(rank)].offset; }
  // To no more than so many bytes.
  void shorten(int rank, std::size_t bytes);

  // From the program's places into the copies, and back.
  void fetch();
  void store();

 private:
  std::byte* copied(const UnderlyingMpi& real, Comm comm, const Part& part);

  std::vector<Dense> copies_;
  std::vector<node::Block> blocks_;
  std::byte nothing_{};
  std::byte* base_ = &nothing_;
};

}  // namespace huddle::mpi

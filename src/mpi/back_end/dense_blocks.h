// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The blocks of one side of a call, as bytes without gaps: each where the program has it or, where
// its type has gaps, in a copy.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/underlying_mpi.h"
#include "runtime/node/blocks.h"

namespace huddle::mpi {

// What a rank gives to itself in a call: the one block of which it sees both ends. Where the two
// are not of the same size the program is wrong, and still no byte may go where none belongs.

// What a rank gives, ready for a team: as many bytes as its block in the output has. What is
// missing is what the output holds already; what is too much is left out.
class OwnSendBlock {
 public:
  // In place: `given` is `own`.
  OwnSendBlock(const UnderlyingMpi& real, Comm comm, const Part& given, const Part& own)
      : given_(real, comm, given) {
    given_.fetch();
    if (given.bytes() != own.bytes()) fit(Dense(real, comm, own));
  }
  const void* data() const { return whole_.empty() ? given_.data() : whole_.data(); }

 private:
  void fit(Dense own);

  Dense given_;
  std::vector<std::byte> whole_;
};

// Where a rank gets its block of the input, ready for a team: there is room for so many bytes.
class OwnReceiveBlock {
 public:
  OwnReceiveBlock(const UnderlyingMpi& real, Comm comm, const Part& gotten, std::size_t bytes)
      : gotten_(real, comm, gotten) {
    if (gotten_.bytes() != bytes) set_aside(bytes);
  }
  void* data() { return aside_.empty() ? gotten_.data() : aside_.data(); }
  // Once it is there.
  void store() {
    if (!aside_.empty()) store_aside();
    gotten_.store();
  }

 private:
  void set_aside(std::size_t bytes);
  void store_aside();

  Dense gotten_;
  std::vector<std::byte> aside_;
};

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

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Packed views of a call's blocks: the program's memory or, if the type has gaps, packed copies.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/underlying_mpi.h"
#include "runtime/node/blocks.h"

namespace huddle::mpi {

// The block that a rank sends to itself, resized to its block in the output: a short block is
// filled up from the output, and a long one is truncated. It is the only block of which a rank
// knows both ends; different sizes are erroneous, but must not cause stray writes.
class OwnSendBlock {
 public:
  // If the call is in place, `given` equals `own`.
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

// The buffer for the block that a rank sends to itself in a scatter, with room for `bytes` bytes.
class OwnReceiveBlock {
 public:
  OwnReceiveBlock(const UnderlyingMpi& real, Comm comm, const Part& gotten, std::size_t bytes)
      : gotten_(real, comm, gotten) {
    if (gotten_.bytes() != bytes) set_aside(bytes);
  }
  void* data() { return aside_.empty() ? gotten_.data() : aside_.data(); }
  // Call after the data have arrived.
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
  // Requires: side.is_valid().
  DenseBlocks(const UnderlyingMpi& real, Comm comm, const VectorBufferArgument& side, int ranks);
  DenseBlocks(const DenseBlocks&) = delete;
  DenseBlocks& operator=(const DenseBlocks&) = delete;

  // Returns the address to which the offsets of blocks() are relative. Disjoint buffers have
  // different bases, because teams detect in-place calls by equal bases.
  std::byte* base() { return base_; }
  node::Blocks blocks() const { return node::Blocks::listed(blocks_); }
  std::byte* data(int rank) { return base_ + blocks_[static_cast<std::size_t>(rank)].offset; }
  // Limits the block to `bytes` bytes.
  void shorten(int rank, std::size_t bytes);

  // Copy from the program's buffers to the copies, and back.
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

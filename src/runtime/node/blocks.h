// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The blocks of a caller's buffer that are sent to, or received from, each rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace huddle::node {

// Offsets are relative to the beginning of the buffer  and may be negative.
struct Block {
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;
};

// Returns how many of `all` bytes lie in the piece of `most` bytes that begins at `from`.
constexpr std::size_t in_piece(std::size_t all, std::size_t from, std::size_t most) {
  return all <= from ? 0 : std::min(most, all - from);
}

class Blocks {
 public:
  // Constructs empty blocks for all ranks.
  Blocks() = default;
  // Returns equal blocks, contiguous in rank order.
  static Blocks even(std::size_t bytes) { return {Kind::even, bytes, 0, {}}; }
  // Returns the whole buffer for one rank, and empty blocks for the others.
  static Blocks only(int rank, std::size_t bytes) { return {Kind::only, bytes, rank, {}}; }
  // Returns the given blocks, indexed by rank. Keeps a reference to them.
  static Blocks listed(std::span<const Block> blocks) { return {Kind::listed, 0, 0, blocks}; }

  Block of(int rank) const {
    switch (kind_) {
      case Kind::even:
        return {static_cast<std::ptrdiff_t>(bytes_) * rank, bytes_};
      case Kind::only:
        return {0, rank == rank_ ? bytes_ : 0};
      case Kind::listed:
        return blocks_[static_cast<std::size_t>(rank)];
    }
    return {};
  }

  // Returns the size of the largest block of the first `ranks` ranks.
  std::size_t largest(int ranks) const {
    if (kind_ != Kind::listed) return kind_ == Kind::even || rank_ < ranks ? bytes_ : 0;
    std::size_t most = 0;
    for (int rank = 0; rank < ranks; ++rank) most = std::max(most, of(rank).bytes);
    return most;
  }
  std::size_t total(int ranks) const { return total(0, ranks); }

  // Returns the total size of the blocks of ranks `first` to `last` - 1.
  std::size_t total(int first, int last) const {
    if (kind_ == Kind::even) return bytes_ * static_cast<std::size_t>(last - first);
    std::size_t sum = 0;
    for (int rank = first; rank < last; ++rank) sum += of(rank).bytes;
    return sum;
  }
  // Returns the longest contiguous run of blocks that begins with rank `first`, up to `last` - 1.
  struct Run {
    Block block;
    int next;  // first rank whose block is not in it
  };
  Run run(int first, int last) const {
    if (kind_ == Kind::even) return {{of(first).offset, total(first, last)}, last};
    Run run{of(first), first + 1};
    while (run.next < last) {
      const Block block = of(run.next);
      if (block.offset != run.block.offset + static_cast<std::ptrdiff_t>(run.block.bytes)) break;
      run.block.bytes += block.bytes;
      ++run.next;
    }
    return run;
  }

 private:
  enum class Kind : std::uint8_t { even, only, listed };
  Blocks(Kind kind, std::size_t bytes, int rank, std::span<const Block> blocks)
      : kind_(kind), bytes_(bytes), rank_(rank), blocks_(blocks) {}

  Kind kind_ = Kind::even;
  std::size_t bytes_ = 0;
  int rank_ = 0;
  std::span<const Block> blocks_;
};

}  // namespace huddle::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Slices into which a reduction cuts its data, and the ranks that receive each part of the result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/context/sequence.h"
#include "runtime/memory/reduction.h"
#include "runtime/node/blocks.h"

namespace huddle::node {

// Defines which rank receives which part of a reduction's result.
struct ReductionTarget {
  enum class Kind : std::uint8_t {
    to_all,     // every rank receives all of it
    to_one,     // one rank receives all of it
    to_each,    // each rank receives its block
    inclusive,  // each rank receives the reduction over all ranks up to itself
    exclusive,  // each rank receives the reduction over the ranks before it; the first one nothing
  };
  Kind kind = Kind::to_all;
  int root = 0;                    // of to_one
  const Blocks* blocks = nullptr;  // of to_each, counted in elements

  bool is_of_prefixes() const { return kind == Kind::inclusive || kind == Kind::exclusive; }
  // Returns whether `reader` receives a result of `slice`, which rank `slice` reduces.
  bool wants(int reader, int slice) const {
    switch (kind) {
      case Kind::to_all:
      case Kind::inclusive:
        return true;
      case Kind::to_one:
        return reader == root;
      case Kind::to_each:
        return reader == slice;
      case Kind::exclusive:
        return reader != 0;
    }
    return false;
  }
  // Returns the rank whose copy of a result is made first; the reducing rank if no other needs it.
  int first_reader(int combiner, int ranks) const {
    switch (kind) {
      case Kind::to_all:
      case Kind::inclusive:
      case Kind::exclusive:
        return (combiner + 1) % ranks;
      case Kind::to_one:
        return root;
      case Kind::to_each:
        return combiner;
    }
    return combiner;
  }
};

// `count` elements, cut into one slice per rank.
struct EvenCut {
  std::size_t count = 0;
  int ranks = 1;

  std::size_t begin(int slice) const {
    return count * static_cast<std::size_t>(slice) / static_cast<std::size_t>(ranks);
  }
  std::size_t elements(int slice) const { return begin(slice + 1) - begin(slice); }
};

// Part of a call's data with one slice per rank: a piece of the data that is cut evenly, or a slice
// of each rank's block.
class Chunk {
 public:
  // The i-th chunk of `count` elements, with slices of at most `most` elements.
  static Chunk of_all(std::size_t i, std::size_t count, std::size_t most, int ranks) {
    const std::size_t whole = most * static_cast<std::size_t>(ranks);
    return {nullptr, i * whole, {in_piece(count, i * whole, whole), ranks}};
  }
  static Chunk of_blocks(std::size_t i, const Blocks& blocks, std::size_t most) {
    return {&blocks, i * most, {most, 1}};
  }

  std::size_t elements(int slice) const {
    if (blocks_ == nullptr) return cut_.elements(slice);
    return in_piece(blocks_->of(slice).bytes, from_, cut_.count);
  }
  // Offset of a slice in the caller's input and in its receiver's output, in elements.
  std::size_t in_input(int slice) const {
    if (blocks_ == nullptr) return from_ + cut_.begin(slice);
    return static_cast<std::size_t>(blocks_->of(slice).offset) + from_;
  }
  std::size_t in_output(int slice) const {
    return blocks_ == nullptr ? from_ + cut_.begin(slice) : from_;
  }

 private:
  Chunk(const Blocks* blocks, std::size_t from, const EvenCut& cut)
      : blocks_(blocks), from_(from), cut_(cut) {}

  const Blocks* blocks_;
  std::size_t from_;  // first element, relative to all data or to each block
  EvenCut cut_;       // of the chunk; in a chunk of blocks, `count` is the capacity of a slice
};

}  // namespace huddle::node

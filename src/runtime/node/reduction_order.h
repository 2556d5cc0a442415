// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Order in which a reduction combines its contributions. Sums of floating-point numbers depend on
// it, so a team has a single order, and every algorithm keeps it:
//
//   Ranks are cut into blocks of consecutive ranks. Within a block, contributions are combined from
//   left to right; then the blocks' results are combined from left to right.
//
// Blocks follow a level of the machine unless that makes the critical path much longer. They depend
// only on the number and placement of the ranks, not on measurements: levels that were inferred
// from latencies are ignored.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/context/context.h"
#include "runtime/memory/reduction.h"
#include "runtime/node/locality.h"

namespace huddle::node {

class ReductionOrder {
 public:
  explicit ReductionOrder(const RankLocality& locality);

  int blocks() const { return static_cast<int>(first_.size()) - 1; }
  // The ranks of a block are first(block) up to, but not including, first(block + 1).
  int first(int block) const { return first_[static_cast<std::size_t>(block)]; }
  int block_of(int rank) const { return block_of_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<int> first_;
  std::vector<int> block_of_;
};

// Number of elements to combine, and the operator.
struct Combine {
  std::size_t count = 0;  // elements
  const memory::Reduction& reduction;

  std::size_t bytes() const { return count * reduction.element_bytes; }
};

// Scratch memory for intermediate results. These are not stored in the target, because it may hold
// an operand until it is written last.
struct Spare {
  context::Address total;
  context::Address block;
};

// Returns the scratch needed by a protocol that combines at most `most_bytes` at a time.
constexpr std::size_t spare_bytes(std::size_t most_bytes) { return 2 * most_bytes; }
inline Spare spare_of(int rank, std::size_t most_bytes) {
  const context::Address total{context::Region::scratch, rank, 0};
  return {total, total + most_bytes};
}

// Computes `to` = item(first) op ... op item(last - 1). item(i) waits for an operand and returns
// its address.
template <context::Context Ctx, class Item>
void fold_row(Ctx& ctx, context::Address to, context::Address spare, int first, int last,
              const Item& item, const Combine& combine) {
  context::Address left = item(first);
  for (int i = first + 1; i < last; ++i) {
    const context::Address target = i + 1 == last ? to : spare;
    ctx.reduce(target, left, item(i), combine.count, combine.reduction);
    left = target;
  }
  // There was a single operand.
  if (left != to) ctx.copy(to, left, combine.bytes(), memory::CopyKernel::plain);
}

// Like fold_row() over all ranks, block by block.
template <context::Context Ctx, class Item>
void fold_ranks(Ctx& ctx, context::Address to, const Spare& spare,
                const ReductionOrder& reduction_order, const Item& item, const Combine& combine) {
  const auto row = [&](int block, context::Address target, context::Address between) {
    fold_row(ctx, target, between, reduction_order.first(block), reduction_order.first(block + 1),
             item, combine);
  };
  const int blocks = reduction_order.blocks();
  if (blocks == 1) return row(0, to, spare.total);
  row(0, spare.total, spare.total);
  for (int block = 1; block < blocks; ++block) {
    row(block, spare.block, spare.block);
    ctx.reduce(block + 1 == blocks ? to : spare.total, spare.total, spare.block, combine.count,
               combine.reduction);
  }
}

}  // namespace huddle::node

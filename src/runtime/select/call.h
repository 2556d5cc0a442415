// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One call of a collective, as this rank makes it.
#pragma once

#include <cstddef>

#include "runtime/memory/reduction.h"
#include "runtime/node/blocks.h"
#include "runtime/select/operation.h"

namespace huddle::select {

struct Call {
  Operation operation = Operation::barrier;
  const void* input = nullptr;
  void* output = nullptr;
  // Elements of a reduction, all of them; bytes of anything else: of what moves in blocks, of a
  // block, the largest where they differ. Where only pairs know, nothing.
  std::size_t count = 0;
  const memory::Reduction* reduction = nullptr;
  int root = 0;
  // Of what moves in blocks: what goes to each rank, and what comes from each. In a reduction to
  // blocks, in elements: what each rank is to have.
  node::Blocks outgoing = {};
  node::Blocks incoming = {};
  // The input is what stands in the output, where the result is to be.
  bool in_place = false;
  BarrierPhase barrier_phase = BarrierPhase::both;

  std::size_t element_bytes() const { return reduction == nullptr ? 1 : reduction->element_bytes; }
};

// What moves in blocks of so many bytes, all alike, as that rank makes it: without its buffers.
// pre: it exchanges blocks.
inline Call exchange_of(Operation operation, std::size_t block_bytes, int rank, int root) {
  const Traits& traits = traits_of(operation);
  const bool is_rooted = gathers_at_root(operation) || scatters_from_root(operation);
  const auto blocks = [&](Amount amount) {
    if (amount == Amount::all) return node::Blocks::only(is_rooted ? root : rank, block_bytes);
    const bool has_some = amount == Amount::for_each || rank == root;
    return has_some ? node::Blocks::even(block_bytes) : node::Blocks();
  };
  return {.operation = operation,
          .count = block_bytes,
          .root = root,
          .outgoing = blocks(traits.in),
          .incoming = blocks(traits.out)};
}

}  // namespace huddle::select

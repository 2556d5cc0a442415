// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One call of a collective, as this rank makes it.
#pragma once

#include <cstddef>

#include "memory/reduction.h"
#include "node/blocks.h"
#include "select/operation.h"

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

  std::size_t element_bytes() const { return reduction == nullptr ? 1 : reduction->element_bytes; }
};

// What moves in blocks of so many bytes, all alike, as that rank makes it: without its buffers.
// pre: one of allgather, alltoall, gather, scatter, or what they are where blocks differ.
inline Call exchange_of(Operation operation, std::size_t block_bytes, int rank, int root) {
  const node::Blocks even = node::Blocks::even(block_bytes);
  const node::Blocks at_root = rank == root ? even : node::Blocks();
  Call call{.operation = operation, .count = block_bytes, .root = root};
  switch (regular_form(operation)) {
    case Operation::allgather:
      call.outgoing = node::Blocks::only(rank, block_bytes);
      call.incoming = even;
      break;
    case Operation::alltoall:
      call.outgoing = even;
      call.incoming = even;
      break;
    case Operation::gather:
      call.outgoing = node::Blocks::only(root, block_bytes);
      call.incoming = at_root;
      break;
    case Operation::scatter:
      call.outgoing = at_root;
      call.incoming = node::Blocks::only(root, block_bytes);
      break;
    case Operation::barrier:
    case Operation::bcast:
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::scan:
    case Operation::exscan:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
    case Operation::allgatherv:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gatherv:
    case Operation::scatterv:
      break;  // none of them
  }
  return call;
}

}  // namespace huddle::select

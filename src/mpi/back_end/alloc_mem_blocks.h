// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Memory that a program asks its MPI for. Some MPIs keep a pool of their own for that, where no
// peer can map it; so what is large enough for the heap comes from there.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_set>

#include "runtime/memory/heap.h"

namespace huddle::mpi {

// For several threads.
class AllocMemBlocks {
 public:
  // Null where the heap does not take a block of that size.
  void* lend(const memory::HeapFacts& heap, std::size_t bytes);
  // Whether it was lent; then it is free.
  bool take_back(void* block);

 private:
  std::mutex mutex_;  // guards what follows
  std::unordered_set<void*> lent_;
};

}  // namespace huddle::mpi

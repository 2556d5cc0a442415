// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/alloc_mem_blocks.h"

#include <cstdlib>
#include <memory>

namespace huddle::mpi {
namespace {

struct Free {
  void operator()(void* block) const { std::free(block); }
};

}  // namespace

// The program's malloc, which is the heap's where that is preloaded, says by where a block lies
// whether it was large enough.
void* AllocMemBlocks::lend(const memory::HeapFacts& heap, std::size_t bytes) {
  std::unique_ptr<void, Free> block(std::malloc(bytes));
  if (!heap.holds(block.get())) return nullptr;
  const std::lock_guard lock(mutex_);
  lent_.insert(block.get());
  return block.release();
}

bool AllocMemBlocks::take_back(void* block) {
  {
    const std::lock_guard lock(mutex_);
    if (lent_.erase(block) == 0) return false;
  }
  std::free(block);
  return true;
}

}  // namespace huddle::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/heap/start.h"

#include <dlfcn.h>

namespace huddle::heap {
namespace {

memory::HeapFacts facts_of(const huddle_heap& heap) {
  memory::HeapFacts facts;
  facts.base = heap.base;
  facts.cap_bytes = heap.cap_bytes;
  facts.descriptor = heap.descriptor;
  facts.id.words = {heap.id[0], heap.id[1]};
  facts.state = heap.state;
  return facts;
}

}  // namespace

Started start(const Wish& wish) {
  auto* const ask = reinterpret_cast<huddle_heap_start_function*>(dlsym(RTLD_DEFAULT, start_name));
  if (ask == nullptr) return {};
  const huddle_heap_wish wished{version, wish.least_block_bytes, wish.cap_bytes,
                                wish.most_copied_bytes, wish.checked};
  const huddle_heap* const heap = ask(&wished);
  if (heap == nullptr)
    return {std::nullopt, "the library of the shared heap is of another version"};
  if (heap->refusal != nullptr) return {std::nullopt, heap->refusal};
  return {facts_of(*heap), {}};
}

}  // namespace huddle::heap

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/heap/start.h"

#include <dlfcn.h>
#include <algorithm>

#include "common/system.h"
#include "common/text.h"

namespace huddle::heap {

Request request_from(const std::function<std::string(std::string_view key)>& value) {
  const auto bytes = [&value](std::string_view key) { return size_from(value(key)).value_or(0); };
  return {.least_block_bytes = bytes("heap-threshold"),
          .cap_bytes = bytes("heap-limit"),
          .most_copied_bytes = bytes("heap-fork-limit"),
          .checked = value("heap") == "check"};
}

namespace {

// Fraction of the usable memory that one fork may copy. The other ranks of the node share the limit
// and may fork at the same time.
constexpr double most_copied_share = 1.0 / 16;

}  // namespace

std::size_t most_copied_bytes(std::size_t set_bytes, const System& system,
                              std::size_t machine_bytes) {
  const auto machine = static_cast<double>(machine_bytes);
  const double usable =
      std::min(read_cgroup_limits(system).memory_bytes.value_or(machine), machine);
  return std::min(set_bytes, static_cast<std::size_t>(most_copied_share * usable));
}

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

Started start(const Request& request) {
  auto* const ask = reinterpret_cast<huddle_heap_start_function*>(dlsym(RTLD_DEFAULT, start_name));
  if (ask == nullptr) return {};
  const huddle_heap_request requested{version, request.least_block_bytes, request.cap_bytes,
                                      request.most_copied_bytes, request.checked};
  const huddle_heap* const heap = ask(&requested);
  if (heap == nullptr)
    return {
        std::nullopt,
        "the preloaded libhuddle_heap.so is of another version than this huddle; install both from "
        "the same version"};
  if (heap->refusal != nullptr) return {std::nullopt, heap->refusal};
  return {facts_of(*heap), {}};
}

}  // namespace huddle::heap

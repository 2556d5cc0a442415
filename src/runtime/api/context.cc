// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "common/settings/settings.h"
#include "common/system.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "runtime/api/handles.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::api {
namespace {

// Limit of queue_bytes. Queues larger than the caches are slower; a much larger value is probably
// in the wrong unit.
constexpr std::size_t most_queue_bytes = std::size_t{1} << 30;

// Default of heap_bytes. Each rank maps the heaps of all others, and 128 TiB of addresses have to
// suffice for the largest node.
constexpr std::size_t default_heap_bytes = std::size_t{64} << 30;

// The smallest valid huddle_settings::size: up to the last field that the first version had. New
// fields are only appended.
constexpr std::size_t least_settings_bytes =
    offsetof(huddle_settings, progress_arg) + sizeof(huddle_settings::progress_arg);

// A program compiled with an older header passes fewer fields; the missing ones are zero and get
// their defaults. One compiled with a newer header passes more; those that this library does not
// know must be zero.
huddle_settings known_part_of(const huddle_settings* given) {
  huddle_settings settings{};
  if (given == nullptr) return settings;
  require(given->size >= least_settings_bytes,
          "huddle_settings: set `size` to sizeof(huddle_settings), and what you do not set to 0");
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  require(std::all_of(bytes + std::min(given->size, sizeof settings), bytes + given->size,
                      [](unsigned char byte) { return byte == 0; }),
          "huddle_settings: the program sets what this older libhuddle does not know");
  std::memcpy(&settings, given, std::min(given->size, sizeof settings));
  return settings;
}

huddle_settings completed(const huddle_settings* given) {
  huddle_settings settings = known_part_of(given);
  if (settings.cap_bytes == 0) settings.cap_bytes = team::default_cap_bytes;
  if (settings.queue_bytes == 0) {
    settings.queue_bytes = std::min(team::ContextOptions().queue_bytes, settings.cap_bytes);
  }
  require(settings.queue_bytes <= std::min(settings.cap_bytes, most_queue_bytes),
          "huddle_settings: queue_bytes is over cap_bytes, or over 1 GiB");
  if (settings.heap_bytes == 0) {
    settings.heap_bytes = std::min(memory::machine_bytes(), default_heap_bytes);
  }
  require(settings.heap_bytes >= 2 * memory::page_bytes(),
          "huddle_settings: heap_bytes is less than two pages");
  return settings;
}

machine::LoadedMachine machine_for(const char* named,
                                   std::span<const settings::Resolved> resolved) {
  const std::string path = named != nullptr ? named : settings::find(resolved, "machine").value;
  const machine::Discovery discovery = machine::discover_this_machine();
  return machine::load_machine(path, discovery.topology);
}

team::ContextOptions options_from(const huddle_settings& settings) {
  team::ContextOptions options;
  const auto resolved = settings::resolve(settings::process_sources());
  machine::LoadedMachine loaded = machine_for(settings.machine_file, resolved);
  options.machine = std::move(loaded.machine);
  options.machine_text = std::move(loaded.text);
  options.forcing = select::Forcing(settings::find(resolved, "algo").value);
  options.arena.cap_bytes = settings.cap_bytes;
  options.queue_bytes = settings.queue_bytes;
  if (settings.progress != nullptr) {
    options.progress = [call = settings.progress, arg = settings.progress_arg] { call(arg); };
  }
  return options;
}

std::shared_ptr<huddle_resources> resources_from(const huddle_settings& settings) {
  team::ContextOptions options = options_from(settings);
  std::unique_ptr<memory::Heap> heap;
  // A context works without a heap.
  team::RankError no_heap = team::RankError::of([&] {
    memory::check_heap_limits(System());
    heap = std::make_unique<memory::Heap>(settings.heap_bytes);
  });
  if (heap) options.heap = heap->facts();
  return std::make_shared<huddle_resources>(std::move(heap), no_heap, std::move(options));
}

}  // namespace
}  // namespace huddle::api

using namespace huddle::api;

huddle_status huddle_context_create(const huddle_settings* settings, huddle_context** context,
                                    huddle_message* message) {
  return make_handle(context, message,
                     [&] { return new huddle_context{resources_from(completed(settings))}; });
}

void huddle_context_free(huddle_context* context) { delete context; }

huddle_status huddle_alloc(huddle_context* context, size_t bytes, void** block,
                           huddle_message* message) {
  return make_handle(block, message, [&] {
    require(context != nullptr, "the context is null");
    huddle::memory::Heap* heap = context->resources->heap.get();
    if (heap == nullptr) throw huddle::FailureError(context->resources->no_heap.text());
    void* given = heap->allocate(bytes);
    if (given == nullptr) {
      throw huddle::FailureError(
          "the heap has no room for such a block; free others, or make heap_bytes of "
          "huddle_settings larger, and `ulimit -f` if it is limited");
    }
    return given;
  });
}

void huddle_free(huddle_context* context, void* block) {
  if (context != nullptr && context->resources->heap) context->resources->heap->free(block);
}

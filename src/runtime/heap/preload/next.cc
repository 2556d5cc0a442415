// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Finds the next malloc in the loader's search order, and provides memory until then.
#include "runtime/heap/preload/process_malloc.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/arithmetic.h"

namespace huddle::heap {
namespace {

template <class Function>
void look_up(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (function == nullptr) std::abort();  // a process without a C library
}

}  // namespace

void* EarlyMemory::take(std::size_t bytes) noexcept {
  const std::size_t whole = round_up(std::max<std::size_t>(bytes, 1), alignof(std::max_align_t));
  if (whole > bytes_.size() - taken_) return nullptr;
  void* const block = bytes_.data() + taken_;
  taken_ += whole;
  return block;
}

// Used from the first call until the next malloc has been found.
constexpr Next::Calls Next::early_calls = {
    .malloc = [](std::size_t bytes) noexcept { return process_malloc.next().early_.take(bytes); },
    .calloc =
        [](std::size_t count, std::size_t bytes) noexcept {
          return process_malloc.next().early_.take(count * bytes);
        },
    .realloc = [](void*, std::size_t) noexcept -> void* { return nullptr; },  // see realloc()
    .memalign = [](std::size_t, std::size_t) noexcept -> void* { return nullptr; },
    .free = [](void*) noexcept {},
    .malloc_usable_size = [](void*) noexcept { return std::size_t{0}; },
    .madvise =
        [](void* first, std::size_t bytes, int advice) noexcept {
          return static_cast<int>(syscall(SYS_madvise, first, bytes, advice));
        },
    .register_atfork = [](ForkHandler*, ForkHandler*, ForkHandler*,
                          void*) noexcept { return ENOMEM; },
    .pthread_attr_setstack = [](pthread_attr_t*, void*, std::size_t) noexcept { return ENOMEM; }};

// Needs no lock: the first call happens before a second thread exists.
const Next::Calls& Next::find() noexcept {
  found_.store(&early_calls, std::memory_order_relaxed);
  look_up("malloc", calls_.malloc);
  look_up("calloc", calls_.calloc);
  look_up("realloc", calls_.realloc);
  look_up("memalign", calls_.memalign);
  look_up("free", calls_.free);
  look_up("malloc_usable_size", calls_.malloc_usable_size);
  look_up("madvise", calls_.madvise);
  look_up("__register_atfork", calls_.register_atfork);
  look_up("pthread_attr_setstack", calls_.pthread_attr_setstack);
  found_.store(&calls_, std::memory_order_release);
  return calls_;
}

void* Next::realloc(void* block, std::size_t bytes) noexcept {
  if (!early_.holds(block)) return calls().realloc(block, bytes);
  void* const moved = malloc(bytes);
  if (moved != nullptr) std::memcpy(moved, block, std::min(bytes, early_.room_behind(block)));
  return moved;
}

}  // namespace huddle::heap

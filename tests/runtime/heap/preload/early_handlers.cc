// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "early_handlers.h"

#include <pthread.h>

#include <cstring>

namespace huddle::heap {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): fork handlers have no arguments
void* watched = nullptr;
std::size_t watched_bytes = 0;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

[[gnu::constructor(101)]] void register_handlers() {
  pthread_atfork(nullptr, nullptr, [] {
    if (watched != nullptr) std::memset(watched, 2, watched_bytes);
  });
}

}  // namespace

void watch_in_fork_handlers(void* block, std::size_t bytes) {
  watched = block;
  watched_bytes = bytes;
}

}  // namespace huddle::heap

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "heap_use.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "sanitizer.h"

namespace {

struct Count {
  std::size_t bytes = 0;
  std::size_t most = 0;
  int uncounted = 0;
};
// operator new has no other place for its counters.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
thread_local Count count;

[[maybe_unused]] void note_taken(void* memory) {
  if (count.uncounted > 0) return;
  count.bytes += malloc_usable_size(memory);
  count.most = std::max(count.most, count.bytes);
}

[[maybe_unused]] void note_given_back(void* memory) {
  if (count.uncounted > 0 || memory == nullptr) return;
  count.bytes -= std::min(count.bytes, malloc_usable_size(memory));
}

}  // namespace

namespace huddle::internode::test {

HeapUse::HeapUse() : before_(count.bytes) { count.most = count.bytes; }
std::size_t HeapUse::most_bytes() const { return count.most - before_; }
std::size_t HeapUse::bytes() const { return count.bytes - before_; }

Uncounted::Uncounted() { ++count.uncounted; }
Uncounted::~Uncounted() { --count.uncounted; }

}  // namespace huddle::internode::test

#if !defined(HUDDLE_SANITIZER_OWNS_NEW)
void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  note_taken(memory);
  return memory;
}

// The sanitizers' nothrow new would not match our delete.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return ::operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept {
  note_given_back(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { ::operator delete(memory); }
#endif

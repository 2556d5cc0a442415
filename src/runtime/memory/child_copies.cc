// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/memory/child_copies.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

namespace huddle::memory {

struct ChildCopies::Entry {
  pthread_mutex_t life;   // held by the child
  std::size_t bytes = 0;  // 0: not in use
};

// More children than most programs have. The table then takes less than a page.
struct ChildCopies::Table {
  std::array<Entry, 64> entries;
};

namespace {

void make_robust(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

}  // namespace

ChildCopies::ChildCopies() noexcept : table_(nullptr) {
  void* const mapped =
      mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return;
  table_ = new (mapped) Table;
  for (Entry& entry : table_->entries) make_robust(entry.life);
}

ChildCopies::~ChildCopies() {
  if (table_ != nullptr) munmap(table_, sizeof(Table));
}

// A mutex that can be locked belongs to a child that has died, before or after it locked it.
bool ChildCopies::is_alive(Entry& entry) noexcept {
  const int result = pthread_mutex_trylock(&entry.life);
  if (result == EBUSY) return true;
  if (result == EOWNERDEAD) pthread_mutex_consistent(&entry.life);
  if (result == 0 || result == EOWNERDEAD) pthread_mutex_unlock(&entry.life);
  return false;
}

std::size_t ChildCopies::living_bytes() noexcept {
  if (table_ == nullptr) return 0;
  std::size_t bytes = 0;
  for (Entry& entry : table_->entries) {
    if (entry.bytes > 0 && !is_alive(entry)) entry.bytes = 0;
    bytes += entry.bytes;
  }
  return bytes;
}

bool ChildCopies::expect(std::size_t bytes) noexcept {
  next_ = nullptr;
  if (table_ == nullptr) return true;
  auto& entries = table_->entries;
  const auto unused = std::find_if(entries.begin(), entries.end(),
                                   [](const Entry& entry) { return entry.bytes == 0; });
  if (unused == entries.end()) return false;
  next_ = &*unused;
  next_->bytes = bytes;
  return true;
}

void ChildCopies::hold_in_child() noexcept {
  if (next_ != nullptr) static_cast<void>(pthread_mutex_trylock(&next_->life));
}

}  // namespace huddle::memory

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/memory/child_copies.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace huddle::memory {

struct ChildCopies::Entry {
  pthread_mutex_t life;   // held by the child
  std::size_t bytes = 0;  // 0: not in use
};

// Many programs have one child per hardware thread. Only the entries in use take memory.
struct ChildCopies::Table {
  std::array<Entry, 4096> entries;
};

namespace {

// Returns false if the system does not support such a mutex.
bool make_robust(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  const bool is_made = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0 &&
                       pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
                       pthread_mutex_init(&mutex, &attributes) == 0;
  pthread_mutexattr_destroy(&attributes);
  return is_made;
}

}  // namespace

ChildCopies::ChildCopies() noexcept : table_(nullptr) {
  void* const mapped =
      mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  // The memory is zero, so the entries need no construction, which would touch all of them.
  if (mapped != MAP_FAILED) table_ = static_cast<Table*>(mapped);
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

std::span<ChildCopies::Entry> ChildCopies::made_entries() noexcept {
  return table_ == nullptr ? std::span<Entry>() : std::span<Entry>(table_->entries).first(made_);
}

std::size_t ChildCopies::living_bytes() noexcept {
  std::size_t bytes = 0;
  for (Entry& entry : made_entries()) {
    if (entry.bytes > 0 && !is_alive(entry)) entry.bytes = 0;
    bytes += entry.bytes;
  }
  return bytes;
}

ChildCopies::Entry* ChildCopies::unused_entry() noexcept {
  const std::span<Entry> made = made_entries();
  const auto unused =
      std::find_if(made.begin(), made.end(), [](const Entry& entry) { return entry.bytes == 0; });
  if (unused != made.end()) return &*unused;
  if (made_ == table_->entries.size()) return nullptr;
  Entry& another = table_->entries[made_];
  is_refused_ = !make_robust(another.life);
  if (is_refused_) return nullptr;
  ++made_;
  return &another;
}

bool ChildCopies::expect(std::size_t bytes) noexcept {
  next_ = nullptr;
  if (table_ == nullptr || is_refused_) return true;
  next_ = unused_entry();
  if (next_ == nullptr) return is_refused_;
  next_->bytes = std::max<std::size_t>(bytes, 1);
  return true;
}

void ChildCopies::hold_in_child() noexcept {
  if (next_ != nullptr) static_cast<void>(pthread_mutex_trylock(&next_->life));
}

}  // namespace huddle::memory

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/team_pool.h"

#include <algorithm>
#include <new>
#include <utility>

namespace huddle::team {

TeamPool::Entry TeamPool::take(std::span<const int> members, const Whereabouts& here) {
  const std::scoped_lock lock(mutex_);
  auto lowest = waiting_.end();
  for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry) {
    if (!std::equal(members.begin(), members.end(), entry->members.begin(), entry->members.end()) ||
        !CPU_EQUAL(&entry->team->own_whereabouts().allowed, &here.allowed)) {
      continue;
    }
    if (lowest == waiting_.end() || entry->number < lowest->number) lowest = entry;
  }
  if (lowest == waiting_.end()) return {};
  Entry taken = std::move(*lowest);
  waiting_.erase(lowest);
  bytes_ -= taken.team->shared_bytes();
  return taken;
}

// Teams are left outside the lock: others may take and put meanwhile.
void TeamPool::put(Entry entry) noexcept {
  if (!entry.team || entry.team->is_lost()) return;
  std::list<Entry> left;
  try {
    const std::size_t bytes = entry.team->shared_bytes();
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(std::move(entry));
    bytes_ += bytes;
    while (bytes_ > most_bytes_) {
      bytes_ -= waiting_.front().team->shared_bytes();
      left.splice(left.end(), waiting_, waiting_.begin());
    }
  } catch (const std::bad_alloc&) {
    return;
  }
}

std::size_t TeamPool::teams() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size();
}

}  // namespace huddle::team

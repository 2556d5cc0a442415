// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/team_pool.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace huddle::team {
namespace {

// Applications use few distinct groups, though many communicators of each.
constexpr std::size_t most_groups = 64;

bool are_same(std::span<const int> members, const std::vector<int>& others) {
  return std::equal(members.begin(), members.end(), others.begin(), others.end());
}

bool is_still(const CpuBinding& there, const CpuBinding& here) {
  return CPU_EQUAL(&there.allowed, &here.allowed);
}

}  // namespace

TeamPool::Entry TeamPool::take(std::span<const int> members, const CpuBinding& here) {
  const std::scoped_lock lock(mutex_);
  auto lowest = waiting_.end();
  for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry) {
    if (!are_same(members, entry->members)) continue;
    if (!is_still(entry->team->own_cpu_binding(), here)) continue;
    if (lowest == waiting_.end() || entry->number < lowest->number) lowest = entry;
  }
  if (lowest == waiting_.end()) return {};
  Entry taken = std::move(*lowest);
  waiting_.erase(lowest);
  bytes_ -= taken.team->shared_bytes();
  return taken;
}

// Destroys teams outside the lock, so that other threads can use the pool meanwhile.
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

TeamPool::Known TeamPool::group(std::span<const int> members, const CpuBinding& here) const {
  const std::scoped_lock lock(mutex_);
  for (const Account& one : group_) {
    if (!are_same(members, one.members)) continue;
    return is_still(one.known.group->cpu_bindings()[one.rank], here) ? one.known : Known{};
  }
  return {};
}

// If memory is exhausted, nothing is stored and the configuration is determined again when needed.
void TeamPool::keep_group(std::vector<int> members, int rank, Known known) noexcept {
  std::list<Account> left;
  try {
    const std::scoped_lock lock(mutex_);
    const auto same = std::find_if(group_.begin(), group_.end(), [&](const Account& one) {
      return are_same(members, one.members);
    });
    if (same != group_.end()) left.splice(left.end(), group_, same);
    group_.push_front({std::move(members), static_cast<std::size_t>(rank), std::move(known)});
    if (group_.size() > most_groups) left.splice(left.end(), group_, std::prev(group_.end()));
  } catch (const std::bad_alloc&) {
    return;
  }
}

std::size_t TeamPool::teams() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size();
}

}  // namespace huddle::team

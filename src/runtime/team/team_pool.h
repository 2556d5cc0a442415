// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A cache of unused teams for the next communicator of the same group. A reused team keeps its
// locality, choices and memory, and continues the sequence of calls of the previous communicator.
// The pool also caches the configurations of groups, from which new teams are set up faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "runtime/team/cpu_binding.h"
#include "runtime/team/team.h"

namespace huddle::team {

// Thread-safe. The contents may differ between ranks, because threads and slow ranks return teams
// in different orders, so the caller of take() must put the team back unless all ranks took the
// same one.
class TeamPool {
 public:
  struct Entry {
    std::vector<int> members;    // the caller's process numbers, by rank
    std::uint64_t number = 0;    // same on all ranks; unique among the teams of these members
    std::uint64_t calls = 0;     // made so far; differs between ranks if calls did not match
    std::unique_ptr<Team> team;  // null if there is none
  };

  // `most_bytes` limits this rank's shared memory in all cached teams.
  explicit TeamPool(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Removes and returns the team of these members with the lowest number in which this rank's CPU
  // binding is unchanged, or an entry without a team.
  Entry take(std::span<const int> members, const CpuBinding& here);
  // Adds a team. Ignores an entry whose team is null or lost. If the limit is exceeded, destroys
  // the teams that have been cached longest.
  void put(Entry entry) noexcept;

  std::size_t teams() const;

  struct Known {
    std::uint64_t number = 0;  // of the team that determined it; 0 if there is none
    std::shared_ptr<GroupConfiguration> group;
  };
  // Returns the latest configuration of these members, if this rank's CPU binding is unchanged.
  Known group(std::span<const int> members, const CpuBinding& here) const;
  // Stores a configuration. Keeps those of a limited number of groups, the latest ones.
  void keep_group(std::vector<int> members, int rank, Known known) noexcept;

 private:
  struct Account {
    std::vector<int> members;
    std::size_t rank;
    Known known;
  };

  std::size_t most_bytes_;
  mutable std::mutex mutex_;  // guards the members below
  std::list<Entry> waiting_;  // the latest last
  std::size_t bytes_ = 0;
  std::list<Account> group_;  // the latest first
};

}  // namespace huddle::team

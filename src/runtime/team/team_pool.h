// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Teams that nobody uses at the moment, for the next communicator of the same group: locality,
// choices and memory stay as they are, and its calls follow those of the communicator before. And
// what was agreed in that group, for one more team of it.
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

// May be used by several threads at once. What a pool holds differs from rank to rank where threads
// or slow ranks are at work: whoever takes a team asks the other members which one they took, and
// puts it back where it is another.
class TeamPool {
 public:
  struct Entry {
    std::vector<int> members;    // by rank, as the caller numbers processes
    std::uint64_t number = 0;    // which of the teams of these members: equal on all of them
    std::uint64_t calls = 0;     // made so far; unequal where a program's calls did not match
    std::unique_ptr<Team> team;  // null: there is none
  };

  // most_bytes: of this rank's shared memory, in all teams that wait here.
  explicit TeamPool(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // The one of the lowest number whose rank still sits where it sat; no team where there is none.
  Entry take(std::span<const int> members, const CpuBinding& here);
  // Nothing where it has no team, or one that cannot be used any more. The teams that have waited
  // longest are left where all of them are too much.
  void put(Entry entry) noexcept;

  std::size_t teams() const;

  struct Known {
    std::uint64_t number = 0;  // of the team that agreed on it; 0: there is none
    std::shared_ptr<GroupConfiguration> group;
  };
  // The latest of these members, where this rank still sits where it sat.
  Known group(std::span<const int> members, const CpuBinding& here) const;
  // Of some sets of members, those that came last.
  void keep_group(std::vector<int> members, int rank, Known known) noexcept;

 private:
  struct Account {
    std::vector<int> members;
    std::size_t rank;
    Known known;
  };

  std::size_t most_bytes_;
  mutable std::mutex mutex_;  // guards what follows
  std::list<Entry> waiting_;  // whoever came last is the last
  std::size_t bytes_ = 0;
  std::list<Account> group_;  // the latest first
};

}  // namespace huddle::team

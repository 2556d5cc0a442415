// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How others see, by looking only, whether a rank is still a member of a team: a word of its arena
// holds a ticket that no other team ever gets. The words lie in pages that are never freed while
// the arena lives, so that whoever looks too late sees another number, and never somebody's data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/memory/arena.h"

namespace huddle::team {

class PresenceTable {
 public:
  struct Entry {
    std::size_t offset = 0;  // of the word, in the arena
    std::uint64_t ticket = 0;
  };

  explicit PresenceTable(std::shared_ptr<memory::Arena> arena);
  // Throws FailureError where the arena has no memory left.
  Entry enter();
  void leave(Entry entry);

 private:
  void add_page();

  std::shared_ptr<memory::Arena> arena_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::size_t> free_words_;
  std::size_t words_ = 0;  // free or not
  std::uint64_t last_ticket_ = 0;
};

// Reads the word of a member, who may be leaving at this moment.
bool is_present(std::byte* arena_base, PresenceTable::Entry entry);

}  // namespace huddle::team

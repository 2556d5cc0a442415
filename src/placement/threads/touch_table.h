// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who touched a page lately: turns touches into counts of who communicates with whom.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "placement/threads/touch.h"

namespace huddle::threads {

enum class Counting {
  // Whenever another thread comes to a page, once with each of those who were there lately: two
  // threads that pass a page to and fro are counted as long as they do.
  every_change,
  // As published: only who is new among a page's last threads. A pair is counted once a page, and
  // what does not change fades as the matrix ages.
  newcomers,
};

// After how many rounds somebody is forgotten who has not come back to a page: otherwise whoever
// filled an array at the start would be counted with all who use it later.
enum class Rounds {
  of_decisions,  // from one to the next
  of_pages,      // the page's own: those between decisions in which somebody was seen to touch it.
                 // For what sees a page every few seconds only, as NUMA balancing does. The
                 // first touch of a page is left out: it fills the page, and would be counted
                 // with the next one, however much later that is.
};

// Of a fixed size. Two pages that fall on one entry replace each other, which is counted.
class TouchTable {
 public:
  explicit TouchTable(Counting counting, Rounds rounds = Rounds::of_decisions,
                      std::size_t entries = default_entries);

  // The threads with which this touch counts as a communication. Valid until the next call.
  std::span<const int> take(const Touch& touch);
  // A decision was made: a round is over.
  void age() { ++round_; }

  // These threads have not been anywhere.
  void forget(std::span<const int> threads);

  std::uint64_t replaced() const { return replaced_; }

  static constexpr int threads_a_page = 4;
  // 2 MB of table: pages of a moving sample are far fewer.
  static constexpr std::size_t default_entries = std::size_t{1} << 16U;

 private:
  struct Visitor {
    std::int16_t thread = -1;
    std::uint16_t round = 0;
  };
  struct Entry {
    std::uint64_t page = 0;
    std::uint16_t seen_in = 0;                     // the round between decisions
    std::uint16_t round = 0;                       // the page's own
    std::array<Visitor, threads_a_page> visitors;  // the last one first
  };
  Entry& entry_of(std::uint64_t page);
  bool is_recent(const Entry& entry, const Visitor& visitor) const;

  Counting counting_;
  Rounds rounds_;
  std::vector<Entry> entries_;
  std::uint16_t round_ = 0;
  std::uint64_t replaced_ = 0;
  std::array<int, threads_a_page> partners_{};
};

}  // namespace huddle::threads

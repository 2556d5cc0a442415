// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is seen of a program's threads, as it happens or as it was recorded. Threads are numbered
// from 0 in the order in which they were first seen.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "placement/mapping/graph.h"

namespace huddle::threads {

// More are not told apart; touches of others are left out.
inline constexpr int most_threads = 4096;

// A page fault: this thread has touched that page.
struct Touch {
  std::uint64_t time_ns = 0;
  int thread = 0;
  std::uint64_t page = 0;  // address / page size
  bool write = true;

  bool operator==(const Touch&) const = default;
};

struct ThreadUse {
  int thread = 0;
  std::uint64_t cpu_ns = 0;  // used since it was born
  int processor = 0;         // that it ran on last

  bool operator==(const ThreadUse&) const = default;
};

// What /proc says of all threads at one moment. Time passes by these: decisions are made at them.
struct Look {
  std::uint64_t time_ns = 0;
  std::vector<ThreadUse> threads;  // those alive
  // Numbers that another thread has by now than at the last look. A recording has none.
  std::vector<int> reused = {};

  bool operator==(const Look&) const = default;
};

// In the order of time.
using Events = std::vector<std::variant<Touch, Look>>;

// Who touched a page lately: turns touches into counts of who communicates with whom.
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

// How often each two threads were seen to touch a page one after the other.
class SharingMatrix {
 public:
  int size() const { return size_; }  // the highest thread that was counted, and one
  // pre: a and b differ, and are 0 or more.
  void add(int a, int b);
  double at(int a, int b) const;
  void add(const SharingMatrix& other);
  void scale(double factor);
  // All that was counted with this thread.
  void forget(int thread);
  void clear() { std::fill(counts_.begin(), counts_.end(), 0); }

  // Over all pairs of these threads: their number, the sum of their counts, and the squares of what
  // each is off their mean.
  struct Spread {
    double pairs = 0, sum = 0, squares = 0;
    double mean() const { return sum / pairs; }
  };
  Spread spread(std::span<const int> threads) const;

  // Of these threads, in their order.
  mapping::Graph graph(std::span<const int> threads) const;

 private:
  static std::size_t corner(int a, int b);

  int size_ = 0;
  std::vector<double> counts_;  // row by row of the lower triangle: grows at its end
};

}  // namespace huddle::threads

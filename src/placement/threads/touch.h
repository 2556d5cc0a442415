// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Observed or recorded events of a program's threads, and their aggregation to a sharing matrix.
// Threads are numbered from 0 in the order in which they were first seen.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "placement/mapping/graph.h"

namespace huddle::threads {

// Touches of further threads are left out.
inline constexpr int most_threads = 4096;

// Page numbers have this size. The bits above it distinguish the pages of different processes.
inline constexpr unsigned page_number_bits = 52;
inline constexpr std::uint64_t most_page_number = (std::uint64_t{1} << page_number_bits) - 1;

// A page fault: a thread has accessed a page.
struct Touch {
  std::uint64_t time_ns = 0;
  int thread = 0;
  std::uint64_t page = 0;  // address / page size
  bool write = true;
  // Known only while the program runs; recordings do not contain them.
  std::uint16_t offset = 0;  // of the address in its page
  std::int32_t process = 0;

  bool operator==(const Touch&) const = default;
};

struct ThreadUse {
  int thread = 0;
  std::uint64_t cpu_ns = 0;  // since the thread started
  int processor = 0;         // on which it last ran
  // Moved from and to memory since it was first seen; nothing if that cannot be counted.
  std::optional<std::uint64_t> memory_bytes = {};

  bool operator==(const ThreadUse&) const = default;
};

// The state of all threads in /proc at one time. Decisions are made at these times only.
struct Look {
  std::uint64_t time_ns = 0;
  std::vector<ThreadUse> threads;  // running threads
  // Numbers that have been reassigned to another thread since the last look.
  std::vector<int> reused = {};

  bool operator==(const Look&) const = default;
};

// Ordered by time.
using Events = std::vector<std::variant<Touch, Look>>;

// Rule by which touches count as communication between threads.
enum class Counting {
  // Counts each arrival of a thread at a page that another thread touched last, once with each
  // thread that was there recently. Two threads that alternate on a page are counted as long as
  // they do.
  every_change,
  // The rule of the published method (--as-printed): counts only threads that are not in the page's
  // list yet. A pair is counted once per page, and a permanent pattern fades as the matrix ages.
  newcomers,
};

// The rounds after which a page forgets a thread that has not returned to it. Without forgetting,
// the thread that initialized an array would be counted with all its later users.
enum class Rounds {
  of_decisions,  // from one decision to the next
  // the page's own: rounds between decisions in which the page was touched. For observers that see
  // a page only every few seconds, as NUMA balancing does. The first touch of a page is left out,
  // because it allocates the page and would be counted with the next touch, however much later that
  // is.
  of_pages,
};

// The threads that touched each page most recently, in a hash table of fixed size. Pages with the
// same entry replace each other; replaced() counts the replacements.
class TouchTable {
 public:
  explicit TouchTable(Counting counting, Rounds rounds = Rounds::of_decisions,
                      std::size_t entries = default_entries);

  // Returns the threads with which this touch counts as communication. Valid until the next call.
  std::span<const int> take(const Touch& touch);
  // Ends a round, after a decision.
  void age() { ++round_; }

  // Removes these threads from all pages.
  void forget(std::span<const int> threads);

  std::uint64_t replaced() const { return replaced_; }

  static constexpr int threads_a_page = 4;
  // A table of 2 MB; a moving sample contains far fewer pages.
  static constexpr std::size_t default_entries = std::size_t{1} << 16U;

 private:
  struct Visitor {
    std::int16_t thread = -1;
    std::uint16_t round = 0;
  };
  struct Entry {
    std::uint64_t page = 0;
    std::uint16_t seen_in = 0;                     // the table's round of the page's last touch
    std::uint16_t round = 0;                       // the page's own round
    std::array<Visitor, threads_a_page> visitors;  // most recent first
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

// For each pair of threads, the number of times that they were seen to touch a page one after the
// other.
class SharingMatrix {
 public:
  int size() const { return size_; }  // highest counted thread + 1
  // Requires: a != b, both >= 0.
  void add(int a, int b);
  double at(int a, int b) const;
  void add(const SharingMatrix& other);
  void scale(double factor);
  // Removes all counts of this thread.
  void forget(int thread);
  void clear() { std::fill(counts_.begin(), counts_.end(), 0); }

  // Statistics over all pairs of `threads`: number of pairs, sum of counts, and sum of squared
  // deviations from the mean.
  struct Spread {
    double pairs = 0, sum = 0, squares = 0;
    double mean() const { return sum / pairs; }
  };
  Spread spread(std::span<const int> threads) const;

  // Returns the counts between `threads`, with vertices in their order.
  mapping::Graph graph(std::span<const int> threads) const;

 private:
  static std::size_t corner(int a, int b);

  int size_ = 0;
  std::vector<double> counts_;  // rows of the lower triangle: grows at the end
};

}  // namespace huddle::threads

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/threads/touch.h"

#include <algorithm>

namespace huddle::threads {
namespace {

// A thread that has not returned to a page for this many rounds is forgotten.
constexpr int rounds_remembered = 2;

// Fibonacci hashing: spreads neighbouring pages, and pages at a distance of a power of two.
std::size_t hash(std::uint64_t page) {
  return static_cast<std::size_t>((page * 0x9e3779b97f4a7c15U) >> 24U);
}

}  // namespace

TouchTable::TouchTable(Counting counting, Rounds rounds, std::size_t entries)
    : counting_(counting), rounds_(rounds), entries_(entries) {}

TouchTable::Entry& TouchTable::entry_of(std::uint64_t page) {
  Entry& entry = entries_[hash(page) % entries_.size()];
  if (entry.page != page) {
    if (entry.visitors.front().thread >= 0) ++replaced_;
    entry = {.page = page, .seen_in = round_, .round = round_, .visitors = {}};
  }
  if (rounds_ == Rounds::of_decisions) {
    entry.round = round_;
  } else if (entry.seen_in != round_) {
    ++entry.round;
  }
  entry.seen_in = round_;
  return entry;
}

bool TouchTable::is_recent(const Entry& entry, const Visitor& visitor) const {
  if (visitor.thread < 0) return false;
  // The published method (newcomers) never forgets a thread.
  return counting_ == Counting::newcomers ||
         static_cast<std::uint16_t>(entry.round - visitor.round) < rounds_remembered;
}

void TouchTable::forget(std::span<const int> threads) {
  std::vector<bool> is_forgotten(most_threads, false);
  for (const int thread : threads) is_forgotten[static_cast<std::size_t>(thread)] = true;
  for (Entry& entry : entries_) {
    for (Visitor& visitor : entry.visitors) {
      if (visitor.thread >= 0 && is_forgotten[static_cast<std::size_t>(visitor.thread)]) {
        visitor.thread = -1;
      }
    }
  }
}

std::span<const int> TouchTable::take(const Touch& touch) {
  const bool is_first = entries_[hash(touch.page) % entries_.size()].page != touch.page;
  Entry& entry = entry_of(touch.page);
  if (is_first && rounds_ == Rounds::of_pages) return {};
  auto& visitors = entry.visitors;
  const auto thread = static_cast<std::int16_t>(touch.thread);
  const auto known = std::find_if(visitors.begin(), visitors.end(),
                                  [thread](const Visitor& v) { return v.thread == thread; });
  const bool counts =
      counting_ == Counting::every_change ? known != visitors.begin() : known == visitors.end();
  std::size_t count = 0;
  for (const Visitor& visitor : visitors) {
    if (counts && visitor.thread != thread && is_recent(entry, visitor)) {
      partners_[count++] = visitor.thread;
    }
  }
  // Moves the thread to the front; a new one replaces the least recent. With Counting::newcomers, a
  // thread that is already in the list keeps its position.
  if (counting_ == Counting::every_change || counts) {
    const auto last = known == visitors.end() ? visitors.end() - 1 : known;
    std::move_backward(visitors.begin(), last, last + 1);
    visitors.front() = {thread, entry.round};
  }
  return {partners_.data(), count};
}

std::size_t SharingMatrix::corner(int a, int b) {
  const auto high = static_cast<std::size_t>(std::max(a, b));
  return high * (high - 1) / 2 + static_cast<std::size_t>(std::min(a, b));
}

void SharingMatrix::add(int a, int b) {
  size_ = std::max({size_, a + 1, b + 1});
  const auto size = static_cast<std::size_t>(size_);
  if (counts_.size() < size * (size - 1) / 2) counts_.resize(size * (size - 1) / 2, 0);
  counts_[corner(a, b)] += 1;
}

double SharingMatrix::at(int a, int b) const {
  if (a == b || std::max(a, b) >= size_) return 0;
  return counts_[corner(a, b)];
}

void SharingMatrix::forget(int thread) {
  if (thread >= size_) return;
  for (int other = 0; other < size_; ++other) {
    if (other != thread) counts_[corner(thread, other)] = 0;
  }
}

void SharingMatrix::add(const SharingMatrix& other) {
  size_ = std::max(size_, other.size_);
  if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size(), 0);
  for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
}

SharingMatrix::Spread SharingMatrix::spread(std::span<const int> threads) const {
  Spread spread;
  double squares = 0;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double count = at(threads[i], threads[j]);
      ++spread.pairs;
      spread.sum += count;
      squares += count * count;
    }
  }
  if (spread.pairs > 0) spread.squares = squares - spread.sum * spread.mean();
  return spread;
}

void SharingMatrix::scale(double factor) {
  for (double& count : counts_) count *= factor;
}

mapping::Graph SharingMatrix::graph(std::span<const int> threads) const {
  mapping::GraphBuilder builder(static_cast<int>(threads.size()));
  for (std::size_t i = 0; i < threads.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double count = at(threads[i], threads[j]);
      if (count > 0) builder.add({static_cast<int>(j), static_cast<int>(i), count});
    }
  }
  return builder.finish();
}

}  // namespace huddle::threads

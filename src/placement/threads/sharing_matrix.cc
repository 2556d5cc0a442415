// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/sharing_matrix.h"

#include <algorithm>

namespace huddle::threads {

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

place::Graph SharingMatrix::graph(std::span<const int> threads) const {
  place::GraphBuilder builder(static_cast<int>(threads.size()));
  for (std::size_t i = 0; i < threads.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double count = at(threads[i], threads[j]);
      if (count > 0) builder.add({static_cast<int>(j), static_cast<int>(i), count});
    }
  }
  return builder.finish();
}

}  // namespace huddle::threads

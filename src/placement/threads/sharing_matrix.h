// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How often each two threads were seen to touch a page one after the other.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "placement/mapping/graph.h"

namespace huddle::threads {

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
  place::Graph graph(std::span<const int> threads) const;

 private:
  static std::size_t corner(int a, int b);

  int size_ = 0;
  std::vector<double> counts_;  // row by row of the lower triangle: grows at its end
};

}  // namespace huddle::threads

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "check/counting/counts.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace huddle::verify::counting {
namespace {

template <class Numbers>
void subtract(Numbers& from, const Numbers& less) {
  std::transform(from.begin(), from.end(), less.begin(), from.begin(), std::minus<>());
}

}  // namespace

std::size_t Counts::all_transfers() const {
  return std::accumulate(transfers_.begin(), transfers_.end(), std::size_t{0});
}

RankCounts& RankCounts::operator-=(const RankCounts& less) {
  loads -= less.loads;
  stores -= less.stores;
  updates -= less.updates;
  fences -= less.fences;
  orderings -= less.orderings;
  wakes -= less.wakes;
  subtract(copied_bytes, less.copied_bytes);
  reduced_bytes -= less.reduced_bytes;
  asked_bytes -= less.asked_bytes;
  pulls -= less.pulls;
  pulled_bytes -= less.pulled_bytes;
  pushes -= less.pushes;
  pushed_bytes -= less.pushed_bytes;
  return *this;
}

Counts& Counts::operator-=(const Counts& less) {
  for (std::size_t rank = 0; rank < of.size(); ++rank) of[rank] -= less.of[rank];
  subtract(transfers_, less.transfers_);
  return *this;
}

}  // namespace huddle::verify::counting

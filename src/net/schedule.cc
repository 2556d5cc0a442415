// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "net/schedule.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <stdexcept>

namespace huddle::net {
namespace {

std::int64_t round_circle(std::int64_t number, std::int64_t modulo) {
  const std::int64_t rest = number % modulo;
  return rest < 0 ? rest + modulo : rest;
}

}  // namespace

Blocks Blocks::interval(std::int64_t first, std::int64_t count) {
  Blocks blocks;
  blocks.add({first, count, 1, 0});
  return blocks;
}

Blocks Blocks::circular(std::int64_t first, std::int64_t count, std::int64_t modulo) {
  assert(count <= modulo);
  Blocks blocks;
  const std::int64_t begin = round_circle(first, modulo);
  const std::int64_t straight = std::min(count, modulo - begin);
  blocks.add({begin, straight, 1, 0});
  blocks.add({0, count - straight, 1, 0});
  return blocks;
}

Blocks Blocks::strided(std::int64_t first, std::int64_t stride, std::int64_t count,
                       std::int64_t modulo) {
  Blocks blocks;
  if (count <= 0) return blocks;
  const std::int64_t begin = round_circle(first, modulo);
  const std::int64_t room = stride < 0 ? begin : modulo - 1 - begin;
  const std::int64_t straight = std::min(count, 1 + room / std::abs(stride));
  blocks.add({begin, 1, straight, stride});
  blocks.add({round_circle(begin + straight * stride, modulo), 1, count - straight, stride});
  return blocks;
}

void Blocks::add(const Run& run) {
  if (run.count() <= 0) return;
  Run added = run;
  if (added.repeats == 1) added.stride = 0;
  if (added.stride == added.length) added = {added.first, added.count(), 1, 0};
  if (size_ == most) throw std::logic_error("a schedule with more runs of blocks than it may have");
  runs_[size_++] = added;
}

std::int64_t Blocks::count() const {
  return std::accumulate(begin(), end(), std::int64_t{0},
                         [](std::int64_t sum, const Run& run) { return sum + run.count(); });
}

bool Blocks::operator==(const Blocks& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

void Round::clear() {
  receives.clear();
  sends.clear();
  work.clear();
}

void Schedule::make(int rank, std::int64_t number, Round& round) const {
  assert(rank >= 0 && rank < ranks() && number >= 0 && number < rounds());
  round.clear();
  fill(rank, number, round);
}

int Schedule::at_distance(int rank, std::int64_t distance) const {
  return static_cast<int>(round_circle(rank + distance, ranks()));
}

}  // namespace huddle::net

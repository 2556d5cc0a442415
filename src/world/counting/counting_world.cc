// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "world/counting/counting_world.h"

#include <vector>

#include "base/error.h"
#include "world/checker/exposure.h"
#include "world/counting/round.h"

namespace huddle::world::counting {

int CountingWorld::ranks() const { return round_.ranks(); }

RankCounts& CountingWorld::counts() const { return round_.of(rank_); }

Sequence CountingWorld::load(Place flag) {
  const Sequence seen = round_.look(rank_, flag);
  round_.pass_on(rank_);
  return seen;
}

void CountingWorld::store(Place flag, Sequence value) {
  ++counts().stores;
  round_.put(rank_, flag, value);
  round_.pass_on(rank_);
}

Sequence CountingWorld::fetch_add(Place flag, Sequence amount) {
  ++counts().updates;
  const Sequence before = round_.look(rank_, flag);
  round_.put(rank_, flag, before + amount);
  round_.pass_on(rank_);
  return before;
}

void CountingWorld::fence() { ++counts().fences; }

Sequence CountingWorld::wait(Place flag, Until until) {
  for (;;) {
    const Sequence seen = round_.look(rank_, flag);
    if (until.holds(seen)) return seen;
    round_.pass_on_in_vain(rank_);
  }
}

int CountingWorld::wait_any(std::span<const Awaited> awaited) {
  for (;;) {
    for (std::size_t i = 0; i < awaited.size(); ++i) {
      if (awaited[i].until.holds(round_.look(rank_, awaited[i].flag))) return static_cast<int>(i);
    }
    round_.pass_on_in_vain(rank_);
  }
}

void CountingWorld::wait_all(std::span<const Place> flags, Until until) {
  for (const Place flag : flags) wait(flag, until);
}

void CountingWorld::copy(Place to, Place from, std::size_t n, memory::CopyKernel kernel) {
  counts().copied_bytes[static_cast<std::size_t>(kernel)] += n;
  const auto source = round_.read(rank_, from, n);
  round_.write(rank_, to, std::vector<std::byte>(source.begin(), source.end()));
}

void CountingWorld::take(Place to, Place from, std::size_t n) {
  copy(to, from, n, memory::CopyKernel::plain);
  keep(from, n);
}

void CountingWorld::keep(Place place, std::size_t n) {
  const auto bytes = round_.read(rank_, place, n);
  round_.write(rank_, place, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

void CountingWorld::reduce(Place to, Place left, Place right, std::size_t count,
                           const memory::Reduction& reduction) {
  const std::size_t n = count * reduction.element_bytes;
  counts().reduced_bytes += n;
  const auto left_bytes = round_.read(rank_, left, n);
  const auto right_bytes = round_.read(rank_, right, n);
  std::vector<std::byte> result(n);
  reduction(result.data(), left_bytes.data(), right_bytes.data(), count);
  round_.write(rank_, to, result);
}

void CountingWorld::sleep(Place flag, Sequence value) {
  while (round_.look(rank_, flag) == value) round_.pass_on_in_vain(rank_);
}

void CountingWorld::wake(Place) { ++counts().wakes; }

bool CountingWorld::expose(Place at, Place what) {
  round_.write(rank_, at, checker::encoded(what));
  return round_.lets_reach();
}

Place CountingWorld::what_is_exposed(Place at) const {
  const auto exposed = checker::exposed_place(at.owner, round_.read(rank_, at, exposure_bytes));
  if (!exposed) throw UsageError("a rank wants what nobody exposes");
  return *exposed;
}

std::optional<Place> CountingWorld::reach(Place at) {
  if (!round_.lets_reach()) return std::nullopt;
  return what_is_exposed(at);
}

// What a rank keeps to itself is in nobody's cache here: what it takes to reach it is the path's.
path::ErrorNumber CountingWorld::pull(Place to, Place at, std::size_t offset, std::size_t bytes) {
  ++counts().pulls;
  counts().pulled_bytes += bytes;
  const Place from = what_is_exposed(at) + offset;
  const auto source = round_.read(from.owner, from, bytes);
  round_.write(rank_, to, std::vector<std::byte>(source.begin(), source.end()));
  return path::fine;
}

path::ErrorNumber CountingWorld::push(Place at, std::size_t offset, Place from, std::size_t bytes) {
  ++counts().pushes;
  counts().pushed_bytes += bytes;
  const Place to = what_is_exposed(at) + offset;
  const auto source = round_.read(rank_, from, bytes);
  round_.write(to.owner, to, std::vector<std::byte>(source.begin(), source.end()));
  return path::fine;
}

Counts count(const Job& job) {
  Round round(job);
  round.run();
  return round.counts();
}

}  // namespace huddle::world::counting

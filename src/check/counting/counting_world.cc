// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "check/counting/counting_world.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "check/checker/memory.h"
#include "check/counting/round.h"
#include "common/error.h"

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

int CountingWorld::ranks() const { return round_.ranks(); }

RankCounts& CountingWorld::counts() const { return round_.of(rank_); }

world::Sequence CountingWorld::load(world::Address flag) {
  const world::Sequence seen = round_.look(rank_, flag);
  round_.pass_on(rank_);
  return seen;
}

void CountingWorld::store(world::Address flag, world::Sequence value) {
  ++counts().stores;
  round_.put(rank_, flag, value);
  round_.pass_on(rank_);
}

world::Sequence CountingWorld::fetch_add(world::Address flag, world::Sequence amount) {
  ++counts().updates;
  const world::Sequence before = round_.look(rank_, flag);
  round_.put(rank_, flag, before + amount);
  round_.pass_on(rank_);
  return before;
}

void CountingWorld::fence() { ++counts().fences; }

world::Sequence CountingWorld::wait(world::Address flag, world::Until until) {
  for (;;) {
    const world::Sequence seen = round_.look(rank_, flag);
    if (until.holds(seen)) return seen;
    round_.pass_on_in_vain(rank_);
  }
}

int CountingWorld::wait_any(std::span<const world::AwaitedFlag> awaited) {
  for (;;) {
    for (std::size_t i = 0; i < awaited.size(); ++i) {
      if (awaited[i].until.holds(round_.look(rank_, awaited[i].flag))) return static_cast<int>(i);
    }
    round_.pass_on_in_vain(rank_);
  }
}

void CountingWorld::wait_all(std::span<const world::Address> flags, world::Until until) {
  for (const world::Address flag : flags) wait(flag, until);
}

void CountingWorld::copy(world::Address to, world::Address from, std::size_t n,
                         memory::CopyKernel kernel) {
  counts().copied_bytes[static_cast<std::size_t>(kernel)] += n;
  const auto source = round_.read(rank_, from, n);
  round_.write(rank_, to, std::vector<std::byte>(source.begin(), source.end()));
}

void CountingWorld::take(world::Address to, world::Address from, std::size_t n) {
  copy(to, from, n, memory::CopyKernel::plain);
  keep(from, n);
}

void CountingWorld::keep(world::Address place, std::size_t n) {
  const auto bytes = round_.read(rank_, place, n);
  round_.write(rank_, place, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

void CountingWorld::reduce(world::Address to, world::Address left, world::Address right,
                           std::size_t count, const memory::Reduction& reduction) {
  const std::size_t n = count * reduction.element_bytes;
  counts().reduced_bytes += n;
  const auto left_bytes = round_.read(rank_, left, n);
  const auto right_bytes = round_.read(rank_, right, n);
  std::vector<std::byte> result(n);
  reduction(result.data(), left_bytes.data(), right_bytes.data(), count);
  round_.write(rank_, to, result);
}

void CountingWorld::sleep(world::Address flag, world::Sequence value) {
  while (round_.look(rank_, flag) == value) round_.pass_on_in_vain(rank_);
}

void CountingWorld::wake(world::Address) { ++counts().wakes; }

bool CountingWorld::expose(world::Address at, world::Address what) {
  round_.write(rank_, at, checker::encoded(what));
  return round_.lets_reach();
}

world::Address CountingWorld::what_is_exposed(world::Address at) const {
  const auto exposed =
      checker::exposed_address(at.owner, round_.read(rank_, at, world::exposure_bytes));
  if (!exposed) throw UsageError("a rank wants what nobody exposes");
  return *exposed;
}

std::optional<world::Address> CountingWorld::reach(world::Address at) {
  if (!round_.lets_reach()) return std::nullopt;
  return what_is_exposed(at);
}

// What a rank keeps to itself is in nobody's cache here: what it takes to reach it is the path's.
single_copy::ErrorNumber CountingWorld::pull(world::Address to, world::Address at,
                                             std::size_t offset, std::size_t bytes) {
  ++counts().pulls;
  counts().pulled_bytes += bytes;
  const world::Address from = what_is_exposed(at) + offset;
  const auto source = round_.read(from.owner, from, bytes);
  round_.write(rank_, to, std::vector<std::byte>(source.begin(), source.end()));
  return single_copy::fine;
}

single_copy::ErrorNumber CountingWorld::push(world::Address at, std::size_t offset,
                                             world::Address from, std::size_t bytes) {
  ++counts().pushes;
  counts().pushed_bytes += bytes;
  const world::Address to = what_is_exposed(at) + offset;
  const auto source = round_.read(rank_, from, bytes);
  round_.write(to.owner, to, std::vector<std::byte>(source.begin(), source.end()));
  return single_copy::fine;
}

Counts count(const Job& job) {
  Round round(job);
  round.run();
  return round.counts();
}

}  // namespace huddle::verify::counting

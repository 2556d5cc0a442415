// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "check/counting/counted_context.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "check/checker/memory.h"
#include "check/counting/round.h"
#include "common/error.h"

namespace huddle::check::counting {
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
  prefetched_bytes -= less.prefetched_bytes;
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

int CountedContext::ranks() const { return round_.ranks(); }

RankCounts& CountedContext::counts() const { return round_.of(rank_); }

context::Sequence CountedContext::load(context::Address flag) {
  const context::Sequence seen = round_.look(rank_, flag);
  round_.pass_on(rank_);
  return seen;
}

void CountedContext::store(context::Address flag, context::Sequence value) {
  ++counts().stores;
  round_.put(rank_, flag, value);
  round_.pass_on(rank_);
}

context::Sequence CountedContext::fetch_add(context::Address flag, context::Sequence amount) {
  ++counts().updates;
  const context::Sequence before = round_.look(rank_, flag);
  round_.put(rank_, flag, before + amount);
  round_.pass_on(rank_);
  return before;
}

void CountedContext::fence() { ++counts().fences; }

context::Sequence CountedContext::wait(context::Address flag, context::Until until) {
  for (;;) {
    const context::Sequence seen = round_.look(rank_, flag);
    if (until.holds(seen)) return seen;
    round_.pass_on_in_vain(rank_);
  }
}

int CountedContext::wait_any(std::span<const context::AwaitedFlag> awaited) {
  for (;;) {
    for (std::size_t i = 0; i < awaited.size(); ++i) {
      if (awaited[i].until.holds(round_.look(rank_, awaited[i].flag))) return static_cast<int>(i);
    }
    round_.pass_on_in_vain(rank_);
  }
}

void CountedContext::wait_all(std::span<const context::Address> flags, context::Until until) {
  for (const context::Address flag : flags) wait(flag, until);
}

void CountedContext::copy(context::Address to, context::Address from, std::size_t n,
                          memory::CopyKernel kernel) {
  counts().copied_bytes[static_cast<std::size_t>(kernel)] += n;
  const auto source = round_.read(rank_, from, n);
  round_.write(rank_, to, std::vector<std::byte>(source.begin(), source.end()));
}

void CountedContext::copy_and_own(context::Address to, context::Address from, std::size_t n) {
  copy(to, from, n, memory::CopyKernel::plain);
  own(from, n);
}

void CountedContext::own(context::Address place, std::size_t n) {
  const auto bytes = round_.read(rank_, place, n);
  round_.write(rank_, place, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

void CountedContext::reduce(context::Address to, context::Address left, context::Address right,
                            std::size_t count, const memory::Reduction& reduction) {
  const std::size_t n = count * reduction.element_bytes;
  counts().reduced_bytes += n;
  const auto left_bytes = round_.read(rank_, left, n);
  const auto right_bytes = round_.read(rank_, right, n);
  std::vector<std::byte> result(n);
  reduction(result.data(), left_bytes.data(), right_bytes.data(), count);
  round_.write(rank_, to, result);
}

void CountedContext::sleep(context::Address flag, context::Sequence value) {
  while (round_.look(rank_, flag) == value) round_.pass_on_in_vain(rank_);
}

void CountedContext::wake(context::Address) { ++counts().wakes; }

bool CountedContext::expose(context::Address at, context::Address what) {
  round_.write(rank_, at, checker::encoded(what));
  return round_.lets_reach();
}

context::Address CountedContext::what_is_exposed(context::Address at) const {
  const auto exposed =
      checker::exposed_address(at.owner(), round_.read(rank_, at, context::exposure_bytes));
  if (!exposed) throw UsageError("a rank wants what nobody exposes");
  return *exposed;
}

std::optional<context::Address> CountedContext::map_exposed(context::Address at) {
  if (!round_.lets_reach()) return std::nullopt;
  return what_is_exposed(at);
}

// Private memory is not part of the simulated caches, so accesses to it count only as a pull or
// push.
single_copy::ErrorNumber CountedContext::pull(context::Address to, context::Address at,
                                              std::size_t offset, std::size_t bytes) {
  ++counts().pulls;
  counts().pulled_bytes += bytes;
  const context::Address from = what_is_exposed(at) + offset;
  const auto source = round_.read(from.owner(), from, bytes);
  round_.write(rank_, to, std::vector<std::byte>(source.begin(), source.end()));
  return single_copy::fine;
}

single_copy::ErrorNumber CountedContext::push(context::Address at, std::size_t offset,
                                              context::Address from, std::size_t bytes) {
  ++counts().pushes;
  counts().pushed_bytes += bytes;
  const context::Address to = what_is_exposed(at) + offset;
  const auto source = round_.read(rank_, from, bytes);
  round_.write(to.owner(), to, std::vector<std::byte>(source.begin(), source.end()));
  return single_copy::fine;
}

Counts count(const Job& job) {
  Round round(job);
  round.run();
  return round.counts();
}

}  // namespace huddle::check::counting

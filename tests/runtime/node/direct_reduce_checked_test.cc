// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Model-checks the single-copy reductions with working and failing paths and with reachable memory.
#include "direct_checked.h"
#include "operators.h"
#include "runtime/node/direct_reduce.h"
#include "runtime/node/locality.h"

namespace huddle::node::test {
namespace {

using DirectReduceCall = DirectCall<DirectReduce>;
// Rounds of one element, to get the largest number of rounds.
constexpr DirectReduce::Plan one_by_one{sizeof(Bracketed)};

Bytes bytes_of(const std::vector<Bracketed>& elements) {
  Bytes bytes(elements.size() * sizeof(Bracketed));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

Bracketed direct_contribution(int rank, std::size_t i) {
  return {1000 * static_cast<std::uint64_t>(rank + 1) + i};
}

Bytes contributions(int rank, std::size_t count) {
  std::vector<Bracketed> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(direct_contribution(rank, i));
  return bytes_of(all);
}

Bytes direct_combined(int ranks, std::size_t from, std::size_t count) {
  const ReductionOrder reduction_order(unknown_locality(ranks));
  std::vector<Bracketed> all;
  for (std::size_t i = from; i < from + count; ++i) {
    all.push_back(
        joined_by(reduction_order, [&](int rank) { return direct_contribution(rank, i); }));
  }
  return bytes_of(all);
}

using DirectResults = DirectReduce::Results;

auto making_allreduce(std::size_t count, DirectResults results) {
  return [=](DirectReduce& protocol, auto& ctx) {
    protocol.allreduce(ctx, count, bracketed, {one_by_one.block_bytes, results});
  };
}

DirectReduceCall allreduce(int ranks, std::size_t count, bool in_place,
                           DirectResults results = DirectResults::are_read) {
  return {[=](int rank) { return contributions(rank, count); },
          [=](int) { return direct_combined(ranks, 0, count); }, making_allreduce(count, results),
          in_place};
}

DirectReduceCall allreduce_written(int ranks, std::size_t count, bool in_place) {
  return allreduce(ranks, count, in_place, DirectResults::are_written);
}

auto making_reduce(std::size_t count, int root, DirectResults results = DirectResults::are_read) {
  return [=](DirectReduce& protocol, auto& ctx) {
    protocol.reduce(ctx, count, bracketed, root, {one_by_one.block_bytes, results});
  };
}

DirectReduceCall reduce(int ranks, std::size_t count, int root, bool in_place,
                        DirectResults results = DirectResults::are_read) {
  return {[=](int rank) { return contributions(rank, count); },
          [=](int rank) { return rank == root ? direct_combined(ranks, 0, count) : Bytes{}; },
          making_reduce(count, root, results), in_place};
}

DirectReduceCall reduce_written(int ranks, std::size_t count, int root, bool in_place) {
  return reduce(ranks, count, root, in_place, DirectResults::are_written);
}

DirectReduceCall reduce_scatter(int ranks) {
  const auto blocks = row(ranks, [](int rank) { return static_cast<std::size_t>(rank % 2 + 1); });
  const auto mine = [blocks](int rank) { return blocks[static_cast<std::size_t>(rank)]; };
  const std::size_t count = static_cast<std::size_t>(blocks.back().offset) + blocks.back().bytes;
  return {[=](int rank) { return contributions(rank, count); },
          [=](int rank) {
            return direct_combined(ranks, static_cast<std::size_t>(mine(rank).offset),
                                   mine(rank).bytes);
          },
          [=](DirectReduce& protocol, CheckedContext& ctx) {
            protocol.reduce_scatter(ctx, Blocks::listed(blocks), bracketed, one_by_one);
          }};
}

Job reduce_job(int ranks, int cells, const std::vector<DirectReduceCall>& calls) {
  return direct_job<DirectReduce>(
      ranks,
      [=](int) {
        return DirectReduce({sizeof(Bracketed), cells}, ReductionOrder(unknown_locality(ranks)),
                            just_below_wrap);
      },
      calls);
}

TEST(DirectChecked, ReduceInEveryOrder) {
  EXPECT_TRUE(passes(reduce_job(2, 2, {allreduce(2, 5, false), allreduce(2, 3, true)})));
  EXPECT_TRUE(passes(reduce_job(3, 2, {allreduce(3, 4, true), allreduce(3, 1, false)})));
  EXPECT_TRUE(passes(reduce_job(
      2, 2,
      {allreduce_written(2, 5, true), allreduce(2, 3, true), allreduce_written(2, 3, false)})));
  EXPECT_TRUE(
      passes(reduce_job(3, 2, {allreduce_written(3, 4, true), allreduce_written(3, 1, false)})));
  EXPECT_TRUE(passes(reduce_job(2, 2, {reduce(2, 7, 1, false), reduce(2, 3, 0, true)})));
  EXPECT_TRUE(passes(reduce_job(3, 2, {reduce(3, 8, 0, true)})));
  EXPECT_TRUE(passes(reduce_job(
      2, 1,
      {reduce_written(2, 7, 1, true), reduce(2, 7, 1, false), reduce_written(2, 3, 0, false)})));
  EXPECT_TRUE(passes(reduce_job(3, 1, {reduce_written(3, 8, 2, true), reduce(3, 8, 0, false)})));
  EXPECT_TRUE(passes(reduce_job(3, 2, {reduce_scatter(3), reduce_scatter(3)})));
}

TEST(DirectChecked, ReduceFailsTogether) {
  EXPECT_TRUE(passes(
      with_failing_paths(reduce_job(2, 2, {allreduce(2, 5, true), reduce(2, 5, 1, false)}))));
  EXPECT_TRUE(passes(with_failing_paths(
      reduce_job(2, 2, {allreduce_written(2, 5, true), allreduce_written(2, 3, false)}))));
  EXPECT_TRUE(passes(with_failing_paths(reduce_job(3, 2, {allreduce(3, 4, false)}))));
  EXPECT_TRUE(passes(with_failing_paths(reduce_job(3, 2, {allreduce_written(3, 4, true)}))));
  EXPECT_TRUE(passes(with_failing_paths(reduce_job(3, 1, {reduce(3, 6, 1, false)}))));
  EXPECT_TRUE(passes(with_failing_paths(reduce_job(3, 1, {reduce_written(3, 6, 1, true)}))));
}

bool everybodys(int) { return true; }
bool of_even_ranks(int rank) { return rank % 2 == 0; }

TEST(DirectChecked, ReduceWithReachablePeers) {
  for (const auto whose : {everybodys, of_even_ranks}) {
    const auto passes_reaching = [whose](const Job& job) {
      return passes(with_reachable(job, whose));
    };
    EXPECT_TRUE(passes_reaching(reduce_job(2, 2, {allreduce(2, 5, false), allreduce(2, 3, true)})));
    EXPECT_TRUE(passes_reaching(reduce_job(3, 2, {allreduce(3, 4, true), reduce(3, 4, 1, false)})));
    EXPECT_TRUE(
        passes_reaching(reduce_job(2, 2, {allreduce_written(2, 5, true), allreduce(2, 3, false)})));
    EXPECT_TRUE(passes_reaching(
        reduce_job(3, 2, {allreduce_written(3, 4, false), allreduce_written(3, 3, true)})));
    EXPECT_TRUE(passes_reaching(reduce_job(2, 2, {reduce(2, 7, 1, true), reduce(2, 3, 0, false)})));
    EXPECT_TRUE(passes_reaching(reduce_job(3, 2, {reduce(3, 8, 0, true), reduce(3, 5, 1, true)})));
    EXPECT_TRUE(passes_reaching(reduce_job(3, 1, {reduce(3, 8, 2, false), reduce_scatter(3)})));
    EXPECT_TRUE(passes_reaching(reduce_job(3, 1, {reduce_written(3, 8, 2, false)})));
    EXPECT_TRUE(passes_reaching(
        with_failing_paths(reduce_job(2, 2, {allreduce(2, 5, true), reduce(2, 5, 1, false)}))));
  }
}

// A rank that reduces in the root's mapped output is waited for like any rank that writes there.
std::vector<Job> leaving_reductions() {
  const auto make = [](int ranks) {
    return [=](int) {
      return DirectReduce({sizeof(Bracketed), 2}, ReductionOrder(unknown_locality(ranks)),
                          just_below_wrap);
    };
  };
  std::vector<Job> jobs;
  for (const Job& job :
       leaving_jobs<DirectReduce>(2, 4, make(2), reduce(2, 4, 0, false), making_reduce(4, 0))) {
    jobs.push_back(job);
    jobs.push_back(with_reachable(job, everybodys));
  }
  for (const auto results : {DirectResults::are_read, DirectResults::are_written}) {
    for (const Job& job : leaving_jobs<DirectReduce>(2, 4, make(2), allreduce(2, 2, false, results),
                                                     making_allreduce(2, results))) {
      jobs.push_back(with_reachable(job, everybodys));
      if (results == DirectResults::are_written) jobs.push_back(job);
    }
  }
  return jobs;
}

TEST(DirectChecked, RankLeavingReductionRegainsItsMemory) {
  for (const Job& job : leaving_reductions()) EXPECT_TRUE(passes(job));
}

TEST(DirectChecked, EveryErrorPlantedIntoReductionsIsFound) {
  const auto failing = with_failing_paths(
      reduce_job(2, 2, {allreduce(2, 5, true), allreduce(2, 2, true), allreduce(2, 2, true)}));
  std::vector<Job> jobs = {
      reduce_job(2, 2, {allreduce(2, 5, false), allreduce(2, 3, true)}),
      reduce_job(3, 2, {allreduce(3, 4, true), reduce_scatter(3)}),
      reduce_job(2, 2, {allreduce_written(2, 5, false), allreduce_written(2, 3, true)}),
      reduce_job(3, 2, {allreduce_written(3, 4, true)}),
      reduce_job(2, 2, {reduce(2, 7, 1, false), reduce(2, 7, 0, true)}),
      reduce_job(3, 1, {reduce(3, 8, 0, true), reduce(3, 7, 1, false)}),
      reduce_job(3, 1, {reduce_written(3, 8, 0, true), reduce_written(3, 7, 1, false)}),
      reduce_job(4, 2, {allreduce(4, 5, false)}),
      failing,
      with_reachable(reduce_job(2, 2, {allreduce(2, 5, true), allreduce(2, 3, true)}), everybodys),
      with_reachable(reduce_job(2, 2, {allreduce_written(2, 5, true), allreduce(2, 3, true)}),
                     everybodys),
      with_reachable(reduce_job(3, 2, {reduce(3, 8, 0, true), reduce(3, 7, 1, false)}), everybodys),
      with_reachable(reduce_job(3, 2, {reduce(3, 8, 0, true), reduce_scatter(3)}), of_even_ranks)};
  append(jobs, leaving_reductions());
  EXPECT_TRUE(bites(jobs, excuses_with_departures));
}

}  // namespace
}  // namespace huddle::node::test

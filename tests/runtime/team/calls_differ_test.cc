// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks that call collectives with different sizes, roots or operations: every rank gets an error,
// and no rank hangs, writes beyond its buffers, or continues with wrong data.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "exercise.h"
#include "guarded_bytes.h"
#include "model/machine/locate.h"
#include "ranks.h"
#include "runtime/context/errors.h"
#include "runtime/team/team.h"
#include "setup.h"

namespace huddle::team {
namespace {

using select::Operation;
using How = RankEnd::How;

// The arguments of one rank.
struct Arguments {
  Operation operation = Operation::bcast;
  std::size_t bytes = 0;  // a multiple of 4; the size of a block if the operation moves blocks
  int root = 0;
};

void call(Team& team, const Arguments& arguments) {
  const auto ranks = static_cast<std::size_t>(team.ranks());
  const std::size_t bytes = arguments.bytes;
  const std::size_t count = bytes / sizeof(std::uint32_t);
  const GuardedBytes block(bytes);
  const GuardedBytes result(bytes);
  const GuardedBytes all_in(bytes * ranks);
  const GuardedBytes all_out(bytes * ranks);
  const node::Blocks blocks = node::Blocks::even(bytes);
  switch (arguments.operation) {
    case Operation::barrier:
      return team.barrier();
    case Operation::bcast:
      return team.bcast(block.data(), bytes, arguments.root);
    case Operation::reduce:
      return team.reduce(block.data(), result.data(), count, sum, arguments.root);
    case Operation::allreduce:
      return team.allreduce(block.data(), result.data(), count, sum);
    case Operation::allgather:
      return team.allgather(block.data(), all_out.data(), bytes);
    case Operation::allgatherv:
      return team.allgatherv(block.data(), all_out.data(), blocks);
    case Operation::alltoall:
      return team.alltoall(all_in.data(), all_out.data(), bytes);
    case Operation::gather:
      return team.gather(block.data(), all_out.data(), bytes, arguments.root);
    case Operation::scatter:
      return team.scatter(all_in.data(), block.data(), bytes, arguments.root);
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return team.reduce_scatter(all_in.data(), result.data(), node::Blocks::even(count), sum);
    case Operation::scan:
      return team.scan(block.data(), result.data(), count, sum);
    case Operation::exscan:
      return team.exscan(block.data(), result.data(), count, sum);
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gatherv:
    case Operation::scatterv:
      // Sizes that only pairs of ranks know are compared by each pair; see the exchange tests.
      return;
  }
}

enum class Told { nothing, calls_differ, peer_lost };

Told outcome_of(Team& team, const Arguments& arguments) {
  try {
    call(team, arguments);
    return Told::nothing;
  } catch (const context::CallsDiffer&) {
    return Told::calls_differ;
  } catch (const context::PeerLost&) {
    return Told::peer_lost;
  }
}

// A root that only sends notices the difference when it must wait for its readers.
constexpr int most_repeats = 100;

Told first_error(Team& team, const Arguments& arguments) {
  for (int i = 0; i < most_repeats; ++i) {
    const Told told = outcome_of(team, arguments);
    if (told != Told::nothing) return told;
  }
  return Told::nothing;
}

using ByRank = std::vector<Arguments>;

void expect_error_everywhere(const ByRank& by_rank, const std::string& what) {
  const auto ranks = static_cast<int>(by_rank.size());
  const auto ends = run_ranks(ranks, [&](const Bootstrap& bootstrap) {
    const auto rank = static_cast<std::size_t>(bootstrap.rank);
    Context context(generic_options("pack:1 l3:1 core:4 pu:1", 256 * MiB));
    Team team(context, bootstrap);
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{65536}}) {
      EXPECT_EQ(outcome_of(team, {by_rank[0].operation, bytes, 0}), Told::nothing) << what;
    }
    Told told = first_error(team, by_rank[rank]);
    // A rank that moves no data may have returned before another one begins.
    if (told == Told::nothing && by_rank[rank].bytes == 0) {
      told = outcome_of(team, {Operation::allreduce, 8, 0});
    }
    EXPECT_NE(told, Told::nothing) << what << ": rank " << rank;
    // All later calls that move data fail.
    EXPECT_EQ(outcome_of(team, {Operation::allreduce, 8, 0}), Told::peer_lost) << what;
    const std::vector<Told> all = gather(bootstrap, told);
    EXPECT_NE(std::find(all.begin(), all.end(), Told::calls_differ), all.end()) << what;
  });
  // Uses ASSERT, because ranks that are forked later would inherit the failure of this process.
  for (const RankEnd& end : ends) ASSERT_EQ(end.how, How::fine) << what << ": " << end;
}

constexpr std::array sizes_of_one_call{std::array{std::size_t{8}, std::size_t{12}},
                                       std::array{std::size_t{12}, std::size_t{1000}},
                                       std::array{std::size_t{8}, std::size_t{4000}},
                                       std::array{std::size_t{4096}, std::size_t{4100}},
                                       std::array{std::size_t{100}, std::size_t{100'000}},
                                       std::array{std::size_t{0}, std::size_t{64}},
                                       std::array{std::size_t{200'000}, std::size_t{1 << 20}}};

class DifferentSizes : public testing::TestWithParam<Operation> {};

TEST_P(DifferentSizes, FailOnEveryRank) {
  for (const auto& [some, other] : sizes_of_one_call) {
    for (const int ranks : {2, 3}) {
      for (const bool is_root_short : {true, false}) {
        ByRank by_rank(static_cast<std::size_t>(ranks), {GetParam(), other, 0});
        by_rank[is_root_short ? 0 : static_cast<std::size_t>(ranks) - 1].bytes = some;
        expect_error_everywhere(
            by_rank, std::string(select::name(GetParam())) + " of " + std::to_string(some) +
                         " and " + std::to_string(other) + " bytes on " + std::to_string(ranks) +
                         " ranks, " + (is_root_short ? "first short" : "last short"));
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOperation, DifferentSizes,
                         testing::Values(Operation::bcast, Operation::reduce, Operation::allreduce,
                                         Operation::allgather, Operation::allgatherv,
                                         Operation::alltoall, Operation::gather, Operation::scatter,
                                         Operation::reduce_scatter, Operation::scan,
                                         Operation::exscan),
                         [](const auto& one) { return std::string(select::name(one.param)); });

TEST(DifferentCalls, FailOnEveryRank) {
  const Arguments bcast{Operation::bcast, 64, 0};
  expect_error_everywhere({bcast, {Operation::bcast, 64, 1}}, "roots");
  expect_error_everywhere({bcast, {Operation::allreduce, 64, 0}}, "bcast and allreduce");
  expect_error_everywhere({bcast, {Operation::barrier, 0, 0}}, "bcast and barrier");
  expect_error_everywhere({{Operation::barrier, 0, 0}, {Operation::allgather, 1 << 20, 0}, bcast},
                          "three operations");
}

// Random combinations of calls, after any number of matching calls.
TEST(DifferentCalls, NeitherHangNorCrashInAnyMixture) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr std::array operations{
      Operation::barrier,        Operation::bcast,    Operation::reduce, Operation::allreduce,
      Operation::allgather,      Operation::alltoall, Operation::gather, Operation::scatter,
      Operation::reduce_scatter, Operation::scan};
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  for (int i = 0; i < 20; ++i) {
    const std::size_t ranks = 2 + below(3);
    const auto some = [&] {
      const Operation operation = operations[below(operations.size())];
      const std::size_t bytes =
          operation == Operation::barrier ? 0 : 4 * (1 + below(std::size_t{1} << below(19)));
      return Arguments{operation, bytes, static_cast<int>(below(ranks))};
    };
    ByRank by_rank(ranks, some());
    Arguments odd = some();
    if (odd.operation == by_rank[0].operation) {
      odd.operation = Operation::allreduce;
      odd.bytes = by_rank[0].bytes + 4;
    }
    by_rank[below(ranks)] = odd;
    expect_error_everywhere(by_rank, "mixture " + std::to_string(i));
    if (HasFailure()) return;
  }
}

TEST(CallsDiffer, NamesTheCallsOfBothRanks) {
  const auto ends = run_ranks(2, [](const Bootstrap& bootstrap) {
    Context context(generic_options("pack:1 l3:1 core:4 pu:1", 256 * MiB));
    Team team(context, bootstrap);
    try {
      for (int i = 0; i < most_repeats; ++i) {
        call(team, {Operation::bcast, bootstrap.rank == 0 ? std::size_t{8} : std::size_t{1000}, 0});
      }
      ADD_FAILURE() << "no error";
    } catch (const context::CallsDiffer& error) {
      EXPECT_STREQ(
          error.what(),
          "ranks make collective calls that differ: rank 0 calls bcast of 8 bytes with root "
          "0, rank 1 calls bcast of 1000 bytes with root 0");
      EXPECT_TRUE(error.are_sizes());
    } catch (const context::PeerLost&) {
      EXPECT_EQ(bootstrap.rank, 0) << "the receiver did not notice it by itself";
    }
  });
  for (const RankEnd& end : ends) EXPECT_EQ(end.how, How::fine) << end;
}

}  // namespace
}  // namespace huddle::team

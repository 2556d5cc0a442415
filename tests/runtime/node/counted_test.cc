// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Checks the cache line transfers and copied bytes that the protocols' descriptions promise.
#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <utility>

#include "check/counting/counted_context.h"
#include "operators.h"
#include "runtime/node/barrier_protocols.h"
#include "runtime/node/bcast_protocols.h"
#include "runtime/node/direct_exchange.h"
#include "runtime/node/direct_reduce.h"
#include "runtime/node/doubling_exchange.h"
#include "runtime/node/locality.h"
#include "runtime/node/pair_exchange.h"
#include "runtime/node/reduce_exchange.h"
#include "runtime/node/reduce_slices.h"
#include "runtime/node/reduce_tree.h"
#include "runtime/node/rooted_exchange.h"
#include "shapes.h"

namespace huddle::node::test {
namespace {

using check::counting::CountedContext;
using check::counting::Counts;
using context::first_sequence;

constexpr std::size_t plain = static_cast<std::size_t>(memory::CopyKernel::plain);
constexpr std::size_t nontemporal = static_cast<std::size_t>(memory::CopyKernel::nontemporal);

struct Calls {
  int ranks = 2;
  std::size_t bytes = 0;  // of the caller's buffers
  int calls = 1;
  bool reachable = false;  // exposed memory
};

// Counts some calls after an uncounted one, so that cache lines are in their steady state.
template <class Make, class Run>
Counts counts_of(const Calls& how, Make make, Run run) {
  const auto counted = [&](int calls) {
    check::counting::Job job;
    job.ranks = how.ranks;
    job.reachable = how.reachable;
    for (int rank = 0; rank < how.ranks; ++rank) {
      job.sizes.shared =
          std::max(job.sizes.shared, round_up(make(rank).shared_bytes(), false_sharing_bytes));
    }
    job.sizes.input = job.sizes.output = how.bytes;
    job.sizes.scratch = 2 * how.bytes + 4 * page_bytes;
    job.body = [&, calls](CountedContext& ctx) {
      auto protocol = make(ctx.rank());
      for (int call = 0; call < calls; ++call) run(protocol, ctx);
    };
    return count(job);
  };
  Counts all = counted(how.calls + 1);
  all -= counted(1);
  return all;
}

std::size_t stores_of(const Counts& counts) {
  return std::accumulate(counts.of.begin(), counts.of.end(), std::size_t{0},
                         [](std::size_t sum, const auto& rank) { return sum + rank.stores; });
}

constexpr auto run_barrier = [](auto& barrier, CountedContext& ctx) { barrier.run(ctx); };

TEST(Counted, BarrierOfTwoRanksMovesOneLineEach) {
  const auto barrier = [](int rank) {
    return DisseminationBarrier({2, 2}, rank, 2, first_sequence);
  };
  const Counts counts = counts_of({2, 0, 10}, barrier, run_barrier);
  EXPECT_EQ(counts.all_transfers(), 20U);
  EXPECT_EQ(stores_of(counts), 20U);
}

// The point of the multicore paper: with two chips of four ranks and chip leaders, one line crosses
// in each direction; with a flat barrier, one line per remote rank.
TEST(Counted, ThreeLevelBarrierCrossesChipsOnce) {
  RankLocality locality = unknown_locality(8);
  locality.levels = {"l3"};
  locality.levels = {"package"};
  locality.group_of = {{0, 0, 0, 0, 1, 1, 1, 1}};
  const auto across = [&](const Shape& shape) {
    const auto barrier = [&](int rank) {
      return TreeBarrier(tree(shape, locality, 0), {1, Release::same_line}, rank, first_sequence);
    };
    const Counts counts = counts_of({8, 0, 10}, barrier, run_barrier);
    std::size_t lines = 0;
    for (int from = 0; from < 8; ++from) {
      for (int to = 0; to < 8; ++to) {
        if (from / 4 != to / 4) lines += counts.transfers(from, to);
      }
    }
    return lines;
  };
  EXPECT_EQ(across({Shape::Kind::levels, 1}), 20U);
  EXPECT_EQ(across(flat), 80U);
}

// With one queue instead of two, a released rank fetches one line less.
TEST(Counted, OneQueueMovesNoMoreLinesThanTwo) {
  const auto lines = [](Release release) {
    const auto barrier = [release](int rank) {
      return TreeBarrier(tree(flat, unknown_locality(5), 0), {1, release}, rank, first_sequence);
    };
    return counts_of({5, 0, 10}, barrier, run_barrier).all_transfers();
  };
  EXPECT_LE(lines(Release::same_line), lines(Release::own_queue));
}

// The payload shares the flag's line: one line per reader, and occasionally the readers' counters.
TEST(Counted, InlineBroadcastMovesOneLineToEachReader) {
  constexpr int calls = 64;
  constexpr int slots = 16;
  const auto bcast = [](int rank) {
    return InlineBcast({{flat}, most_in_line, slots}, unknown_locality(4), rank, first_sequence);
  };
  const Counts counts = counts_of(
      {4, most_in_line, calls}, bcast,
      [](InlineBcast& protocol, CountedContext& ctx) { protocol.run(ctx, most_in_line, 0, 0); });
  for (int reader = 1; reader < 4; ++reader) {
    EXPECT_EQ(counts.transfers(0, reader), calls);
    EXPECT_LE(counts.transfers(reader, 0), calls / 4);
  }
}

// Every byte is copied in once, and out once per reader, for any tree.
TEST(Counted, PipelinedBroadcastCopiesEveryByteOnce) {
  constexpr std::size_t bytes = 100'000;
  for (const int shape : {0, 1}) {
    const auto bcast = [](int rank) {
      return PipelinedBcast({{flat, binary}, 4096, 2, 4}, unknown_locality(4), rank,
                            first_sequence);
    };
    const Counts counts =
        counts_of({4, bytes, 1}, bcast, [shape](PipelinedBcast& protocol, CountedContext& ctx) {
          protocol.run(ctx, bytes, 0, {shape, 1, memory::CopyKernel::nontemporal});
        });
    EXPECT_EQ(counts.of[0].copied_bytes[nontemporal], bytes);
    EXPECT_EQ(counts.of[0].copied_bytes[plain], 0U);
    for (int reader = 1; reader < 4; ++reader) {
      EXPECT_EQ(counts.of[static_cast<std::size_t>(reader)].copied_bytes[plain], bytes);
    }
  }
}

// A block behind its flag moves in one line, and the readers' flags move occasionally.
TEST(Counted, SmallGatherAndScatterMoveOneLinePerPeer) {
  constexpr int ranks = 4;
  constexpr std::size_t calls = 64;
  constexpr std::size_t bytes = 8;
  const auto protocol = [](int) { return RootedExchange({}, first_sequence); };
  const Counts gather = counts_of({ranks, ranks * bytes, calls}, protocol,
                                  [](RootedExchange& exchange, CountedContext& ctx) {
                                    exchange.gather(ctx, Blocks::even(bytes), bytes, 0, false, {});
                                  });
  const Counts scatter = counts_of(
      {ranks, ranks * bytes, calls}, protocol, [](RootedExchange& exchange, CountedContext& ctx) {
        exchange.scatter(ctx, Blocks::even(bytes), {0, bytes}, bytes, 0, false, {});
      });
  for (int peer = 1; peer < ranks; ++peer) {
    EXPECT_EQ(gather.transfers(peer, 0), calls);
    EXPECT_LE(gather.transfers(0, peer), calls / 4);
    EXPECT_EQ(scatter.transfers(0, peer), calls);
    EXPECT_LE(scatter.transfers(peer, 0), calls / 4);
  }
}

// One line per round, from three of seven peers.
TEST(Counted, DoublingMovesOneLinePerRound) {
  constexpr int ranks = 8;
  constexpr int calls = 10;
  constexpr std::size_t bytes = 8;
  const auto protocol = [](int rank) {
    return DoublingExchange({ranks * bytes}, rank, ranks, first_sequence);
  };
  const Counts counts = counts_of({ranks, ranks * bytes, calls}, protocol,
                                  [](DoublingExchange& exchange, CountedContext& ctx) {
                                    exchange.allgather(ctx, Blocks::even(bytes), false, {});
                                  });
  for (int to = 0; to < ranks; ++to) {
    for (const int distance : {1, 2, 3, 4, 5, 6, 7}) {
      const bool is_heard = distance == 1 || distance == 2 || distance == 4;
      EXPECT_EQ(counts.transfers((to + distance) % ranks, to), is_heard ? calls : 0) << distance;
    }
  }
}

// Exchanges a page in each direction, in 8 calls.
Counts counts_of_pairs(memory::CopyMethod method) {
  constexpr std::size_t block = page_bytes;
  const auto protocol = [](int) { return PairExchange({block, 4, 8}, 2, first_sequence); };
  return counts_of({2, 2 * block, 8}, protocol, [&](PairExchange& exchange, CountedContext& ctx) {
    const Blocks blocks = Blocks::even(block);
    exchange.run(ctx, blocks, blocks, false, {block, PairExchange::Order::paired, method});
  });
}

// Each line is transferred once, with one flag: no rank checks for free cells. (In hardware the
// lines are then in the right cache, because the CPU transfers ownership together with modified
// data. In this model both ranks hold a line that one has read.)
TEST(Counted, PingPongCellsMoveOnlyData) {
  constexpr std::size_t calls = 8;
  constexpr std::size_t lines = page_bytes / line_bytes;
  const Counts stay = counts_of_pairs(memory::CopyKernel::plain);
  const Counts returned = counts_of_pairs(memory::by_ping_pong);
  for (const auto& [one, other] : {std::pair{0, 1}, std::pair{1, 0}}) {
    EXPECT_EQ(returned.transfers(one, other), calls * (lines + 1));
    EXPECT_GT(stay.transfers(one, other), calls * (lines + 1));
  }
}

// Rank 1 sends `sent` bytes to rank 0 and receives `gotten` bytes, in 8 calls.
Counts counts_of_asking(std::size_t sent, std::size_t gotten) {
  const auto protocol = [](int) { return PairExchange({page_bytes, 4, 8}, 2, first_sequence); };
  return counts_of(
      {2, 2 * (sent + gotten), 8}, protocol, [&](PairExchange& exchange, CountedContext& ctx) {
        const bool is_sender = ctx.rank() == 1;
        const std::vector<Block> out = {{0, is_sender ? sent : 0}, {0, is_sender ? 0 : gotten}};
        const std::vector<Block> in = {{0, is_sender ? gotten : 0}, {0, is_sender ? 0 : sent}};
        exchange.run(ctx, Blocks::listed(out), Blocks::listed(in), false,
                     {page_bytes, PairExchange::Order::staggered, memory::by_prefetch});
      });
}

// A sender prefetches the number of cells that it has filled, up to those that are left; a rank
// that also reads does not prefetch.
TEST(Counted, OnlyPureSendersPrefetch) {
  for (const auto& [pages, asked] : {std::pair{1, 1}, {2, 2}, {3, 1}, {4, 0}, {9, 0}}) {
    const Counts counts = counts_of_asking(static_cast<std::size_t>(pages) * page_bytes, 0);
    EXPECT_EQ(counts.of[0].prefetched_bytes, 0U);
    EXPECT_EQ(counts.of[1].prefetched_bytes, 8U * static_cast<std::size_t>(asked) * page_bytes)
        << pages;
  }
  EXPECT_EQ(counts_of_asking(1000, 0).of[1].prefetched_bytes, 8000U);
  EXPECT_EQ(counts_of_asking(most_in_line, 0).of[1].prefetched_bytes, 0U);
  EXPECT_EQ(counts_of_asking(page_bytes, page_bytes).of[1].prefetched_bytes, 0U);
}

// Two blocks of two ranks: one line from each member to its leader and back, and one between the
// leaders in each direction. No rank reads a counter.
TEST(Counted, LeadersMoveOneLineEachWay) {
  constexpr int calls = 64;
  constexpr int slots = 4;
  const auto protocol = [](int) {
    return TreeReduce({most_in_line, slots}, ReductionOrder(unknown_locality(4)), first_sequence);
  };
  const memory::Reduction product = product_of<Bracketed>();
  const Counts counts = counts_of(
      {4, sizeof(Bracketed), calls}, protocol, [&](TreeReduce& reduce, CountedContext& ctx) {
        reduce.allreduce(ctx, 1, product, {most_in_line, TreeReduce::Top::leaders});
      });
  for (const auto& [one, other] : {std::pair{0, 1}, {0, 2}, {2, 3}}) {
    EXPECT_EQ(counts.transfers(one, other), calls);
    EXPECT_EQ(counts.transfers(other, one), calls);
  }
  EXPECT_EQ(counts.all_transfers(), 6 * calls);
}

// Counts an allreduce of `count` elements on 4 ranks.
Counts counts_of_slices(std::size_t count, SlicedReduce::Results results) {
  const ReductionOrder reduction_order(unknown_locality(4));
  const auto reduce = [&](int) {
    return SlicedReduce({1024, 4}, reduction_order, 4, first_sequence);
  };
  return counts_of(
      {4, count * sizeof(Bracketed), 1}, reduce, [&](SlicedReduce& protocol, CountedContext& ctx) {
        protocol.allreduce(ctx, count, bracketed, {1024, memory::CopyKernel::nontemporal, results});
      });
}

// Each rank reduces its slice of all ranks' data: it copies in (p - 1) / p of its data and its
// result, and copies out the results of the others.
TEST(Counted, SlicesShareTheWork) {
  constexpr std::size_t count = 4096;
  constexpr std::size_t quarter = count * sizeof(Bracketed) / 4;
  for (const auto& rank : counts_of_slices(count, SlicedReduce::Results::in_one_place).of) {
    EXPECT_EQ(rank.copied_bytes[nontemporal], 4 * quarter);
    EXPECT_EQ(rank.copied_bytes[plain], 3 * quarter);
    EXPECT_EQ(rank.reduced_bytes, 3 * quarter);
    EXPECT_EQ(rank.updates, 0U);
  }
}

// Results replace one contribution and are copied to the places of the others and to the caller.
TEST(Counted, ResultsReplaceContributions) {
  constexpr std::size_t count = 4096;
  constexpr std::size_t quarter = count * sizeof(Bracketed) / 4;
  const Counts counts = counts_of_slices(count, SlicedReduce::Results::returned);
  for (const auto& rank : counts.of) {
    EXPECT_EQ(rank.copied_bytes[nontemporal], (3 + 2) * quarter);
    EXPECT_EQ(rank.copied_bytes[plain], (1 + 3) * quarter);
    EXPECT_EQ(rank.reduced_bytes, 3 * quarter);
    EXPECT_EQ(rank.updates, 0U);
  }
}

// Single copy: every received byte is pulled once, and only a rank's own block is copied.
TEST(Counted, DirectExchangeMovesEveryByteOnce) {
  constexpr std::size_t block = 10'000;
  const auto protocol = [](int) { return DirectExchange({4096}, 4, first_sequence); };
  const auto alltoall = [](DirectExchange& exchange, CountedContext& ctx) {
    exchange.exchange(ctx, Blocks::even(block), Blocks::even(block), false);
  };
  const auto gather = [](DirectExchange& exchange, CountedContext& ctx) {
    exchange.exchange(ctx, Blocks::only(2, block), ctx.rank() == 2 ? Blocks::even(block) : Blocks(),
                      ctx.rank() == 2);
  };
  for (const auto& rank : counts_of({4, 4 * block, 1}, protocol, alltoall).of) {
    EXPECT_EQ(rank.pulled_bytes, 3 * block);
    EXPECT_EQ(rank.pulls, 3U);
    EXPECT_EQ(rank.copied_bytes[plain], block);
  }
  const Counts gathered = counts_of({4, 4 * block, 1}, protocol, gather);
  EXPECT_EQ(gathered.of[2].pulled_bytes, 3 * block);
  EXPECT_EQ(gathered.of[0].pulled_bytes, 0U);
  EXPECT_EQ(gathered.of[2].copied_bytes[plain], 0U);
}

// If the other ranks write, the root copies only its own block.
TEST(Counted, WrittenGatherLeavesCopyingToPeers) {
  constexpr std::size_t block = 10'000;
  const Counts gathered = counts_of(
      {4, 4 * block, 1}, [](int) { return DirectExchange({4096}, 4, first_sequence); },
      [](DirectExchange& exchange, CountedContext& ctx) {
        exchange.gather(ctx, {0, block}, ctx.rank() == 2 ? Blocks::even(block) : Blocks(), 2, false,
                        {0});
      });
  EXPECT_EQ(gathered.of[2].pushes + gathered.of[2].pulls, 0U);
  EXPECT_EQ(gathered.of[2].copied_bytes[plain], block);
  for (const std::size_t peer : {0U, 1U, 3U}) {
    EXPECT_EQ(gathered.of[peer].pushes, 1U);
    EXPECT_EQ(gathered.of[peer].pushed_bytes, block);
    EXPECT_EQ(gathered.of[peer].pulls, 0U);
    EXPECT_EQ(gathered.of[peer].copied_bytes[plain], 0U);
  }
}

// An announced block is pulled once; any other block is copied into and out of shared memory once.
TEST(Counted, LargeBlocksArePulledAndSmallOnesCopied) {
  constexpr std::size_t large = 10'000;
  constexpr std::size_t small = 100;
  // Rank 1 sends large blocks, the others small ones; each rank's block for itself is empty.
  const auto bytes = [](int from, int to) { return from == to ? 0 : from == 1 ? large : small; };
  const auto protocol = [](int) { return PairExchange({4096, 2}, 4, first_sequence); };
  const auto alltoallv = [&](PairExchange& exchange, CountedContext& ctx) {
    std::vector<Block> outgoing;
    std::vector<Block> incoming;
    for (int peer = 0; peer < 4; ++peer) {
      const std::ptrdiff_t at = peer * static_cast<std::ptrdiff_t>(large);
      outgoing.push_back({at, bytes(ctx.rank(), peer)});
      incoming.push_back({at, bytes(peer, ctx.rank())});
    }
    exchange.run(ctx, Blocks::listed(outgoing), Blocks::listed(incoming), false,
                 {.tile_bytes = 4096,
                  .order = PairExchange::Order::as_ready,
                  .method = memory::CopyKernel::nontemporal,
                  .announced_from = small + 1});
  };
  const Counts counts = counts_of({4, 4 * large, 1}, protocol, alltoallv);
  for (const std::size_t rank : {0U, 2U, 3U}) {
    EXPECT_EQ(counts.of[rank].pulled_bytes, large);
    EXPECT_EQ(counts.of[rank].pulls, 1U);
    EXPECT_EQ(counts.of[rank].copied_bytes[nontemporal], 3 * small);
    EXPECT_EQ(counts.of[rank].copied_bytes[plain], 2 * small);
  }
  EXPECT_EQ(counts.of[1].pulled_bytes, 0U);
  EXPECT_EQ(counts.of[1].copied_bytes[nontemporal], 0U);
  EXPECT_EQ(counts.of[1].copied_bytes[plain], 3 * small);
}

// Each rank reads its slice of all data and the results of the others, or writes its result to
// them. If only the root receives the result, it comes through shared memory.
TEST(Counted, DirectReduceMovesSliceAndResultsOnce) {
  constexpr std::size_t count = 4096;
  constexpr std::size_t quarter = count * sizeof(Bracketed) / 4;
  const ReductionOrder reduction_order(unknown_locality(4));
  const auto protocol = [&](int) {
    return DirectReduce({1024, 2}, reduction_order, first_sequence);
  };
  const auto to_all = [&](DirectReduce& reduce, CountedContext& ctx) {
    reduce.allreduce(ctx, count, bracketed, {1024});
  };
  const auto to_one = [&](DirectReduce& reduce, CountedContext& ctx) {
    reduce.reduce(ctx, count, bracketed, 1, {1024});
  };
  for (const auto& rank : counts_of({4, 4 * quarter, 1}, protocol, to_all).of) {
    EXPECT_EQ(rank.pulled_bytes, 6 * quarter);
    EXPECT_EQ(rank.copied_bytes[plain], 0U);
    EXPECT_EQ(rank.reduced_bytes, 3 * quarter);
  }
  const auto written_to_all = [&](DirectReduce& reduce, CountedContext& ctx) {
    reduce.allreduce(ctx, count, bracketed, {1024, DirectReduce::Results::are_written});
  };
  for (const auto& rank : counts_of({4, 4 * quarter, 1}, protocol, written_to_all).of) {
    EXPECT_EQ(rank.pulled_bytes, 3 * quarter);
    EXPECT_EQ(rank.pushed_bytes, 3 * quarter);
    EXPECT_EQ(rank.reduced_bytes, 3 * quarter);
  }
  const Counts reduced = counts_of({4, 4 * quarter, 1}, protocol, to_one);
  for (const auto& rank : reduced.of) EXPECT_EQ(rank.pulled_bytes, 3 * quarter);
  EXPECT_EQ(reduced.of[1].copied_bytes[plain], 3 * quarter);
  EXPECT_EQ(reduced.of[0].copied_bytes[plain], 0U);
}

// If all memory can be reached, no contribution is copied before it is reduced. A reduce to one
// rank copies nothing: each byte of the result is written once, in its final place.
TEST(Counted, DirectReduceCopiesNoReachableData) {
  constexpr std::size_t count = 4096;
  constexpr std::size_t quarter = count * sizeof(Bracketed) / 4;
  const ReductionOrder reduction_order(unknown_locality(4));
  const auto protocol = [&](int) {
    return DirectReduce({1024, 2}, reduction_order, first_sequence);
  };
  const Calls calls{4, 4 * quarter, 1, true};
  const auto to_all = [&](DirectReduce& reduce, CountedContext& ctx) {
    reduce.allreduce(ctx, count, bracketed, {1024});
  };
  const auto to_one = [&](DirectReduce& reduce, CountedContext& ctx) {
    reduce.reduce(ctx, count, bracketed, 1, {1024});
  };
  for (const auto& rank : counts_of(calls, protocol, to_all).of) {
    EXPECT_EQ(rank.pulled_bytes, 3 * quarter);
    EXPECT_EQ(rank.copied_bytes[plain], 0U);
    EXPECT_EQ(rank.reduced_bytes, 3 * quarter);
  }
  for (const auto& rank : counts_of(calls, protocol, to_one).of) {
    EXPECT_EQ(rank.pulled_bytes, 0U);
    EXPECT_EQ(rank.copied_bytes[plain], 0U);
    EXPECT_EQ(rank.reduced_bytes, 3 * quarter);
  }
}

}  // namespace
}  // namespace huddle::node::test

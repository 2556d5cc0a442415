// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs every protocol on real threads and compares with a serial reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "operators.h"
#include "runtime/node/barrier_protocols.h"
#include "runtime/node/bcast_protocols.h"
#include "runtime/node/direct_exchange.h"
#include "runtime/node/direct_reduce.h"
#include "runtime/node/pair_exchange.h"
#include "runtime/node/reduce_exchange.h"
#include "runtime/node/reduce_slices.h"
#include "runtime/node/reduce_tree.h"
#include "threads.h"

namespace huddle::node::test {
namespace {

using context::first_sequence;

constexpr int thread_calls = 150;  // enough for the counters to wrap

// Two L3 groups of consecutive ranks, the second smaller.
RankLocality uneven_seats(int ranks) {
  RankLocality locality = unknown_locality(ranks);
  if (ranks < 3) return locality;
  std::vector<int> group(static_cast<std::size_t>(ranks), 0);
  for (int rank = ranks / 2 + 1; rank < ranks; ++rank) group[static_cast<std::size_t>(rank)] = 1;
  locality.levels = {"l3"};
  locality.levels = {"package"};
  locality.group_of = {group};
  locality.memory_of = group;
  return locality;
}

class OnThreads : public testing::TestWithParam<int> {
 protected:
  int ranks() const { return GetParam(); }
  RankLocality locality() const { return uneven_seats(GetParam()); }
};

template <class Barrier>
void expect_nobody_leaves_early(int ranks, const std::function<Barrier(int)>& make) {
  std::vector<std::atomic<int>> entered(static_cast<std::size_t>(ranks));
  Threads<Barrier> threads(ranks, make);
  threads.run([&](int rank, Barrier& barrier, const auto& context_for) {
    NativeContext ctx = context_for(nullptr, nullptr);
    for (int call = 1; call <= thread_calls; ++call) {
      entered[static_cast<std::size_t>(rank)].store(call, std::memory_order_relaxed);
      barrier.run(ctx);
      for (const auto& other : entered) {
        ASSERT_GE(other.load(std::memory_order_relaxed), call);
      }
    }
  });
}

TEST_P(OnThreads, TreeBarriersHoldAllRanks) {
  for (const Release release : {Release::same_line, Release::own_queue, Release::announced}) {
    for (const Shape& shape : {Shape{Shape::Kind::flat}, Shape{Shape::Kind::kary, 2},
                               Shape{Shape::Kind::levels}, Shape{Shape::Kind::knomial, 1}}) {
      for (const int per_line : {1, 2, 16}) {
        expect_nobody_leaves_early<TreeBarrier>(ranks(), [&](int rank) {
          return TreeBarrier(tree(shape, locality(), 0), {per_line, release}, rank, first_sequence);
        });
      }
    }
  }
}

TEST_P(OnThreads, DisseminationBarriersHoldAllRanks) {
  for (const int radix : {2, 3, 8}) {
    for (const int per_line : {1, 2, 16}) {
      expect_nobody_leaves_early<DisseminationBarrier>(ranks(), [&](int rank) {
        return DisseminationBarrier({radix, per_line}, rank, ranks(), first_sequence);
      });
    }
  }
}

std::vector<unsigned char> thread_message(std::size_t bytes, int call) {
  std::vector<unsigned char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<unsigned char>(i * 7 + i / 251 + static_cast<std::size_t>(call));
  }
  return data;
}

template <class Bcast>
void expect_broadcast(int ranks, const std::vector<std::size_t>& sizes,
                      const std::function<Bcast(int)>& make, const auto& run) {
  Threads<Bcast> threads(ranks, make);
  threads.run([&](int rank, Bcast& bcast, const auto& context_for) {
    for (int call = 0; call < thread_calls; ++call) {
      const std::size_t bytes = sizes[static_cast<std::size_t>(call) % sizes.size()];
      const int root = call * 5 % ranks;
      const auto wanted = thread_message(bytes, call);
      auto buffer = rank == root ? wanted : std::vector<unsigned char>(bytes, 0);
      NativeContext ctx = context_for(buffer.data(), buffer.data());
      run(bcast, ctx, bytes, root);
      ASSERT_EQ(buffer, wanted) << "rank " << rank << " call " << call;
    }
  });
}

const std::vector<Shape> shapes = {{Shape::Kind::flat},
                                   {Shape::Kind::chain},
                                   {Shape::Kind::kary, 2},
                                   {Shape::Kind::knomial, 2},
                                   {Shape::Kind::levels}};

TEST_P(OnThreads, InlineBroadcast) {
  for (int shape = 0; shape < static_cast<int>(shapes.size()); ++shape) {
    expect_broadcast<InlineBcast>(
        ranks(), {8, 1, 56, 0, 200},
        [&](int rank) {
          return InlineBcast({shapes, 200, 4}, locality(), rank, first_sequence);
        },
        [shape](InlineBcast& bcast, NativeContext& ctx, std::size_t bytes, int root) {
          bcast.run(ctx, bytes, root, shape);
        });
  }
}

TEST_P(OnThreads, PipelinedBroadcast) {
  for (int shape = 0; shape < static_cast<int>(shapes.size()); ++shape) {
    expect_broadcast<PipelinedBcast>(
        ranks(), {100, 1, 64, 1000, 0, 513},
        [&](int rank) {
          return PipelinedBcast({shapes, 16, 4, 2}, locality(), rank, first_sequence);
        },
        [shape](PipelinedBcast& bcast, NativeContext& ctx, std::size_t bytes, int root) {
          const int fragment_cells = 1 << bytes % 3;
          bcast.run(ctx, bytes, root, {shape, fragment_cells, memory::CopyKernel::plain});
        });
  }
}

TEST_P(OnThreads, SegmentedBroadcast) {
  expect_broadcast<SegmentedBcast>(
      ranks(), {100, 1, 4096, 50000, 0, 8193},
      [&](int rank) {
        return SegmentedBcast({2, 4096}, locality(), rank, first_sequence);
      },
      [](SegmentedBcast& bcast, NativeContext& ctx, std::size_t bytes, int root) {
        bcast.run(ctx, bytes, root, {2048, memory::CopyKernel::nontemporal});
      });
}

Bracketed thread_contribution(int rank, std::size_t i, int call) {
  return {static_cast<std::uint64_t>(rank) * 1000003 + i * 17 + static_cast<std::uint64_t>(call)};
}

Bracketed thread_joined(const ReductionOrder& reduction_order, std::size_t i, int call) {
  return joined_by(reduction_order, [&](int rank) { return thread_contribution(rank, i, call); });
}

template <class Reduce>
void expect_reduction(
    const RankLocality& locality, const std::vector<std::size_t>& counts,
    const std::function<Reduce(int)>& make,
    const std::function<void(Reduce&, NativeContext&, std::size_t, int root)>& reduce,
    bool to_all) {
  const ReductionOrder reduction_order(locality);
  Threads<Reduce> threads(locality.ranks(), make);
  threads.run([&](int rank, Reduce& protocol, const auto& context_for) {
    for (int call = 0; call < thread_calls; ++call) {
      const std::size_t count = counts[static_cast<std::size_t>(call) % counts.size()];
      const int root = call * 3 % locality.ranks();
      std::vector<Bracketed> mine(count);
      for (std::size_t i = 0; i < count; ++i) mine[i] = thread_contribution(rank, i, call);
      std::vector<Bracketed> result(count);
      const bool in_place = call % 2 == 0;
      std::vector<Bracketed>& out = in_place ? mine : result;
      NativeContext ctx = context_for(mine.data(), out.data());
      reduce(protocol, ctx, count, root);
      if (!to_all && rank != root) continue;
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(out[i].value, thread_joined(reduction_order, i, call).value)
            << "rank " << rank << " call " << call << " element " << i;
      }
    }
  });
}

// Tests reduce and allreduce of a protocol that has both.
template <class Reduce>
void expect_reductions(const RankLocality& locality, const std::vector<std::size_t>& counts,
                       const std::function<Reduce(int)>& make, const typename Reduce::Plan& plan) {
  expect_reduction<Reduce>(
      locality, counts, make,
      [&](Reduce& protocol, NativeContext& ctx, std::size_t count, int root) {
        protocol.reduce(ctx, count, bracketed, root, plan);
      },
      false);
  expect_reduction<Reduce>(
      locality, counts, make,
      [&](Reduce& protocol, NativeContext& ctx, std::size_t count, int) {
        protocol.allreduce(ctx, count, bracketed, plan);
      },
      true);
}

TEST_P(OnThreads, ExchangeReduce) {
  expect_reductions<ExchangeReduce>(
      locality(), {1, 7, 0, 20, 33},
      [&](int) { return ExchangeReduce({160}, ReductionOrder(locality()), first_sequence); },
      {40, memory::CopyKernel::plain});
}

TEST_P(OnThreads, TreeReduce) {
  const auto make = [&](int) {
    return TreeReduce({64, 4}, ReductionOrder(locality()), first_sequence);
  };
  using Top = TreeReduce::Top;
  for (const Top top : {Top::first_rank, Top::leaders, Top::everybody}) {
    expect_reductions<TreeReduce>(locality(), {1, 8, 0, 9, 50}, make, {40, top});
  }
}

TEST_P(OnThreads, SlicedReduce) {
  using Results = SlicedReduce::Results;
  for (const int sets : {2, 4}) {
    const auto make = [&](int) {
      return SlicedReduce({128, sets}, ReductionOrder(locality()), ranks(), first_sequence);
    };
    for (const Results results : {Results::returned, Results::in_one_place}) {
      for (memory::CopyMethod method :
           {memory::CopyMethod(memory::CopyKernel::nontemporal), memory::by_reader_ownership}) {
        expect_reductions<SlicedReduce>(locality(), {1, 8, 0, 900, 133, 3}, make,
                                        {64, method, results});
      }
    }
  }
}

// Threads read each other's memory by plain copies, so that unordered accesses are data races.
TEST_P(OnThreads, DirectReduce) {
  using Results = DirectReduce::Results;
  const auto make = [&](int) {
    return DirectReduce({128, 2}, ReductionOrder(locality()), first_sequence);
  };
  for (const Results results : {Results::are_read, Results::are_written}) {
    expect_reductions<DirectReduce>(locality(), {1, 8, 0, 900, 133, 3}, make, {64, results});
  }
}

// bytes(call, from, to) is a block's size; run(protocol, context, outgoing, incoming) is a call.
template <class Protocol>
void expect_exchange(int ranks, const auto& bytes, const std::function<Protocol(int)>& make,
                     const auto& run) {
  Threads<Protocol> threads(ranks, make);
  threads.run([&](int rank, Protocol& protocol, const auto& context_for) {
    for (int call = 0; call < thread_calls; ++call) {
      const auto append = [&](std::vector<unsigned char>& all, std::vector<Block>& blocks, int from,
                              int to) {
        const auto one = thread_message(bytes(call, from, to), call * 100 + from * 10 + to);
        blocks.push_back({static_cast<std::ptrdiff_t>(all.size()), one.size()});
        all.insert(all.end(), one.begin(), one.end());
      };
      std::vector<unsigned char> input;
      std::vector<unsigned char> wanted;
      std::vector<Block> outgoing;
      std::vector<Block> incoming;
      for (int other = 0; other < ranks; ++other) {
        append(input, outgoing, rank, other);
        append(wanted, incoming, other, rank);
      }
      std::vector<unsigned char> output(wanted.size(), 0);
      NativeContext ctx = context_for(input.data(), output.data());
      run(protocol, ctx, Blocks::listed(outgoing), Blocks::listed(incoming));
      ASSERT_EQ(output, wanted) << "rank " << rank << " call " << call;
    }
  });
}

TEST_P(OnThreads, DirectExchange) {
  expect_exchange<DirectExchange>(
      ranks(), [](int call, int, int) -> std::size_t { return call % 2 == 0 ? 5 : 777; },
      [&](int) { return DirectExchange({100}, ranks(), first_sequence); },
      [](DirectExchange& protocol, NativeContext& ctx, const Blocks& outgoing,
         const Blocks& incoming) { protocol.exchange(ctx, outgoing, incoming, false); });
}

TEST_P(OnThreads, WrittenGather) {
  constexpr int root = 0;
  expect_exchange<DirectExchange>(
      ranks(),
      [](int call, int, int to) -> std::size_t { return to != root      ? 0
                                                        : call % 2 == 0 ? 5
                                                                        : 777; },
      [&](int) { return DirectExchange({100}, ranks(), first_sequence); },
      [](DirectExchange& protocol, NativeContext& ctx, const Blocks& outgoing,
         const Blocks& incoming) {
        protocol.gather(ctx, outgoing.of(root), incoming, root, false, {2});
      });
}

// Each sender announces some blocks, sends some in tiles, and some are empty.
TEST_P(OnThreads, PairExchange) {
  for (const auto order : {PairExchange::Order::paired, PairExchange::Order::staggered,
                           PairExchange::Order::as_ready}) {
    expect_exchange<PairExchange>(
        ranks(),
        [](int call, int from, int to) {
          return static_cast<std::size_t>((call + 3 * from + 5 * to) % 7 * 150);
        },
        [&](int) {
          return PairExchange({128, 2}, ranks(), first_sequence);
        },
        [order](PairExchange& protocol, NativeContext& ctx, const Blocks& outgoing,
                const Blocks& incoming) {
          const std::size_t announced_from = 400 + 100 * static_cast<std::size_t>(ctx.rank());
          protocol.run(ctx, outgoing, incoming, false,
                       {.tile_bytes = 128,
                        .order = order,
                        .results = memory::CopyKernel::nontemporal,
                        .announced_from = announced_from});
        });
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, OnThreads, testing::Values(1, 2, 3, 4, 5, 7),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace huddle::node::test

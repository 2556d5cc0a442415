// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Model-checks the reductions with an operator that gives a different result for each
// reduction_order.
#include "checked.h"
#include "operators.h"
#include "runtime/node/agreement.h"
#include "runtime/node/locality.h"
#include "runtime/node/reduce_exchange.h"
#include "runtime/node/reduce_slices.h"
#include "runtime/node/reduce_tree.h"

namespace huddle::node::test {
namespace {

// One call: the number of elements, and the root of a reduce or -1 for an allreduce.
struct ReduceCall {
  std::size_t count = 1;
  int root = -1;
};

Bracketed given(int rank, std::size_t call, std::size_t i) {
  return {1000 * static_cast<std::uint64_t>(rank + 1) + 10 * call + i};
}

Bracketed reduced(const ReductionOrder& reduction_order, std::size_t call, std::size_t i) {
  return joined_by(reduction_order, [&](int rank) { return given(rank, call, i); });
}

template <class Element>
Bytes bytes_of(std::size_t count, Element element) {
  Bytes bytes(count * sizeof(Bracketed));
  for (std::size_t i = 0; i < count; ++i) {
    const Bracketed value = element(i);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

template <class Make, class Run>
Job reduce_job(int ranks, const std::vector<ReduceCall>& calls, Make make, Run run) {
  std::size_t most = 1;
  for (const ReduceCall& reduce : calls) most = std::max(most, reduce.count);
  const ReductionOrder reduction_order(unknown_locality(ranks));
  Script script{calls.size(), most * sizeof(Bracketed),
                [=](int rank, std::size_t call) {
                  return bytes_of(calls[call].count,
                                  [&](std::size_t i) { return given(rank, call, i); });
                },
                [=](int rank, std::size_t call) {
                  if (calls[call].root >= 0 && calls[call].root != rank) return Bytes{};
                  return bytes_of(calls[call].count,
                                  [&](std::size_t i) { return reduced(reduction_order, call, i); });
                }};
  return job_of(ranks, script, make,
                [calls, run](auto& protocol, CheckedContext& ctx, std::size_t call) {
                  run(protocol, ctx, calls[call]);
                });
}

// Rounds of two elements, which share the cache line of their flag, and of eight, which do not.
constexpr ExchangeReduce::Plan reduced_in_lines{16, memory::CopyKernel::nontemporal};
constexpr ExchangeReduce::Plan in_slots{64, memory::CopyKernel::nontemporal};
// For a reduce, whose root is the only reader.
constexpr ExchangeReduce::Plan owned_slots{64, memory::by_reader_ownership};
// For two ranks, whose slots alternate between their memories.
constexpr ExchangeReduce::Plan returned_slots{64, memory::by_ping_pong};

ExchangeReduce exchange_of(int ranks) {
  return {{in_slots.round_bytes, 4}, ReductionOrder(unknown_locality(ranks)), just_below_wrap};
}

template <class Protocol>
void run_either(Protocol& protocol, CheckedContext& ctx, const ReduceCall& call,
                const typename Protocol::Plan& plan) {
  if (call.root < 0) {
    protocol.allreduce(ctx, call.count, bracketed, plan);
  } else {
    protocol.reduce(ctx, call.count, bracketed, call.root, plan);
  }
}

Job exchange_job(int ranks, const std::vector<ReduceCall>& calls,
                 const ExchangeReduce::Plan& plan = reduced_in_lines) {
  return reduce_job(
      ranks, calls, [=](int) { return exchange_of(ranks); },
      [plan](ExchangeReduce& protocol, CheckedContext& ctx, const ReduceCall& call) {
        run_either(protocol, ctx, call, plan);
      });
}

Job tree_job(int ranks, TreeReduce::Top top, const std::vector<ReduceCall>& calls) {
  return reduce_job(
      ranks, calls,
      [=](int) {
        return TreeReduce({8, 2}, ReductionOrder(unknown_locality(ranks)), just_below_wrap);
      },
      [top](TreeReduce& protocol, CheckedContext& ctx, const ReduceCall& call) {
        run_either(protocol, ctx, call, {8, top});
      });
}

Job slices_job(int ranks, SlicedReduce::Results results, const std::vector<ReduceCall>& calls,
               memory::CopyMethod method = memory::CopyKernel::nontemporal) {
  return reduce_job(
      ranks, calls,
      [=](int) {
        return SlicedReduce({8, 2}, ReductionOrder(unknown_locality(ranks)), ranks,
                            just_below_wrap);
      },
      [=](SlicedReduce& protocol, CheckedContext& ctx, const ReduceCall& call) {
        run_either(protocol, ctx, call, {8, method, results});
      });
}

// Prefixes: each rank receives the reduction over the ranks before it, with or without itself.
enum class Prefix { inclusive, exclusive };

Script prefix_script(const std::vector<std::size_t>& counts, Prefix prefix) {
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  return {counts.size(), most * sizeof(Bracketed),
          [=](int rank, std::size_t call) {
            return bytes_of(counts[call], [&](std::size_t i) { return given(rank, call, i); });
          },
          [=](int rank, std::size_t call) {
            const int end = prefix == Prefix::inclusive ? rank + 1 : rank;
            if (end == 0) return Bytes{};
            return bytes_of(counts[call], [&](std::size_t i) {
              Bracketed total = given(0, call, i);
              for (int other = 1; other < end; ++other) total = total * given(other, call, i);
              return total;
            });
          }};
}

template <class Protocol>
void run_prefix(Protocol& protocol, CheckedContext& ctx, std::size_t count, Prefix prefix,
                const typename Protocol::Plan& plan) {
  switch (prefix) {
    case Prefix::inclusive:
      return protocol.scan(ctx, count, bracketed, plan);
    case Prefix::exclusive:
      return protocol.exscan(ctx, count, bracketed, plan);
  }
}

SlicedReduce slices_of(int ranks) {
  return {{8, 2}, ReductionOrder(unknown_locality(ranks)), ranks, just_below_wrap};
}
constexpr SlicedReduce::Plan returned_plan{8, memory::CopyKernel::nontemporal,
                                           SlicedReduce::Results::returned};

template <class Make, class Plan>
Job prefix_job(int ranks, const std::vector<std::size_t>& counts, Prefix prefix, Make make,
               Plan plan) {
  return job_of(
      ranks, prefix_script(counts, prefix), [=](int) { return make(ranks); },
      [=](auto& protocol, CheckedContext& ctx, std::size_t call) {
        run_prefix(protocol, ctx, counts[call], prefix, plan);
      });
}

// Each rank receives its block of the reduction: calls[call][rank] elements.
template <class Make, class Plan>
Job scatter_job(const std::vector<std::vector<std::size_t>>& calls, Make make, Plan plan) {
  const int ranks = static_cast<int>(calls.front().size());
  const auto before = [calls](std::size_t call, int rank) {
    std::size_t sum = 0;
    for (int other = 0; other < rank; ++other) sum += calls[call][static_cast<std::size_t>(other)];
    return sum;
  };
  std::size_t most = 1;
  for (std::size_t call = 0; call < calls.size(); ++call) {
    most = std::max(most, before(call, ranks));
  }
  const ReductionOrder reduction_order(unknown_locality(ranks));
  Script script{calls.size(), most * sizeof(Bracketed),
                [=](int rank, std::size_t call) {
                  return bytes_of(before(call, ranks),
                                  [&](std::size_t i) { return given(rank, call, i); });
                },
                [=](int rank, std::size_t call) {
                  return bytes_of(calls[call][static_cast<std::size_t>(rank)], [&](std::size_t i) {
                    return reduced(reduction_order, call, before(call, rank) + i);
                  });
                }};
  return job_of(
      ranks, script, [=](int) { return make(ranks); },
      [=](auto& protocol, CheckedContext& ctx, std::size_t call) {
        std::vector<Block> blocks;
        for (int rank = 0; rank < ranks; ++rank) {
          blocks.push_back({static_cast<std::ptrdiff_t>(before(call, rank)),
                            calls[call][static_cast<std::size_t>(rank)]});
        }
        protocol.reduce_scatter(ctx, Blocks::listed(blocks), bracketed, plan);
      });
}

using Top = TreeReduce::Top;
using Results = SlicedReduce::Results;
constexpr Results either_results[] = {Results::returned, Results::in_one_place};

TEST(ReduceChecked, ExchangeInEveryOrder) {
  EXPECT_TRUE(passes(exchange_job(2, {{1}, {2}, {1}, {2}})));
  EXPECT_TRUE(passes(exchange_job(2, {{9}, {1}, {5}})));
  EXPECT_TRUE(passes(exchange_job(3, {{1}, {3}, {1}})));
  EXPECT_TRUE(passes(exchange_job(2, {{19}, {9}, {1}}, in_slots)));
  EXPECT_TRUE(passes(exchange_job(3, {{9}, {10}}, in_slots)));
  EXPECT_TRUE(passes(exchange_job(2, {{39}, {9}, {1}, {17}}, returned_slots)));
}

// The root changes, and reduces alternate with allreduces.
TEST(ReduceChecked, ExchangeToRootInEveryOrder) {
  EXPECT_TRUE(passes(exchange_job(2, {{1, 0}, {5, 1}, {1}, {2, 1}})));
  EXPECT_TRUE(passes(exchange_job(3, {{1, 2}, {3, 0}, {1}})));
  EXPECT_TRUE(passes(exchange_job(3, {{9, 1}, {15, 2}, {3, 0}})));
  EXPECT_TRUE(passes(exchange_job(3, {{33, 1}, {9, 2}, {41, 0}}, in_slots)));
  EXPECT_TRUE(passes(exchange_job(2, {{19, 1}, {9, 0}, {1}, {39, 0}}, in_slots)));
  EXPECT_TRUE(passes(exchange_job(3, {{9, 1}, {10, 2}}, owned_slots)));
  EXPECT_TRUE(passes(exchange_job(2, {{39, 1}, {9, 0}, {1}, {17, 0}}, returned_slots)));
}

TEST(ReduceChecked, TreeInEveryOrder) {
  for (const Top top : {Top::first_rank, Top::leaders, Top::everybody}) {
    EXPECT_TRUE(passes(tree_job(2, top, {{3}, {1, 1}, {1}})));
    EXPECT_TRUE(passes(tree_job(3, top, {{1}, {1, 2}, {1}})));
    EXPECT_TRUE(passes(tree_job(4, top, {{1}, {1, 3}})));
  }
}

TEST(ReduceChecked, SlicesInEveryOrder) {
  for (const Results results : either_results) {
    EXPECT_TRUE(passes(slices_job(2, results, {{5}, {3, 1}, {1}})));
    EXPECT_TRUE(passes(slices_job(3, results, {{7}, {3, 2}})));
    EXPECT_TRUE(passes(slices_job(2, results, {{5}, {3, 1}, {1}}, memory::by_reader_ownership)));
    EXPECT_TRUE(passes(slices_job(3, results, {{7}, {3, 2}}, memory::by_reader_ownership)));
  }
}

TEST(ReduceChecked, PrefixesInEveryOrder) {
  for (const Prefix prefix : {Prefix::inclusive, Prefix::exclusive}) {
    EXPECT_TRUE(passes(prefix_job(2, {1, 5, 2}, prefix, exchange_of, reduced_in_lines)));
    EXPECT_TRUE(passes(prefix_job(3, {1, 3, 1}, prefix, exchange_of, reduced_in_lines)));
    EXPECT_TRUE(passes(prefix_job(2, {1, 35, 1, 17}, prefix, exchange_of, in_slots)));
    EXPECT_TRUE(passes(prefix_job(3, {19, 9}, prefix, exchange_of, in_slots)));
    EXPECT_TRUE(passes(prefix_job(2, {5, 3, 1}, prefix, slices_of, returned_plan)));
    EXPECT_TRUE(passes(prefix_job(3, {7, 3}, prefix, slices_of, returned_plan)));
  }
}

TEST(ReduceChecked, BlocksInEveryOrder) {
  EXPECT_TRUE(passes(scatter_job({{1, 1}, {3, 0}, {2, 4}}, exchange_of, reduced_in_lines)));
  EXPECT_TRUE(passes(scatter_job({{1, 1, 1}, {0, 2, 1}}, exchange_of, reduced_in_lines)));
  EXPECT_TRUE(passes(scatter_job({{5, 4, 3}, {0, 9, 1}}, exchange_of, in_slots)));
  EXPECT_TRUE(passes(scatter_job({{20, 17}, {9, 0}, {4, 4}}, exchange_of, returned_slots)));
  EXPECT_TRUE(passes(scatter_job({{1, 1}, {3, 0}, {2, 4}}, slices_of, returned_plan)));
  EXPECT_TRUE(passes(scatter_job({{1, 3, 0}, {2, 2, 2}}, slices_of, returned_plan)));
}

const Excuse owned_too_many{Fault::wrong_owner, "ctx.own(",
                            "no slot is reused before the root's next flag but one"};

TEST(ReduceChecked, EveryErrorPlantedIntoPrefixesAndBlocksIsFound) {
  for (const Prefix prefix : {Prefix::inclusive, Prefix::exclusive}) {
    EXPECT_TRUE(bites({prefix_job(2, {1, 9, 2, 3}, prefix, exchange_of, reduced_in_lines),
                       prefix_job(4, {3, 9}, prefix, exchange_of, reduced_in_lines),
                       prefix_job(2, {1, 49, 3, 17}, prefix, exchange_of, in_slots)},
                      {seen_too_low, set_too_high}));
  }
  EXPECT_TRUE(bites({scatter_job({{1, 8}, {3, 0}, {4, 4}}, exchange_of, reduced_in_lines),
                     scatter_job({{1, 9, 1}, {4, 2, 1}}, exchange_of, reduced_in_lines),
                     scatter_job({{30, 19}, {9, 8}}, exchange_of, in_slots),
                     scatter_job({{30, 19}, {9, 8}}, exchange_of, returned_slots)},
                    {seen_too_low, set_too_high}));
}

TEST(ReduceChecked, EveryPlantedErrorIsFound) {
  EXPECT_TRUE(bites({exchange_job(2, {{1}, {9}, {1}, {2}}), exchange_job(4, {{2}, {11}, {1}}),
                     exchange_job(2, {{49}, {1}, {17}}, in_slots),
                     exchange_job(2, {{49}, {1}, {17}}, returned_slots)}));
  EXPECT_TRUE(bites(
      {exchange_job(2, {{9, 0}, {9, 1}}), exchange_job(3, {{15, 2}, {11, 0}}),
       exchange_job(3, {{49, 1}, {17, 0}}, in_slots), exchange_job(2, {{49, 1}, {17, 0}}, in_slots),
       exchange_job(2, {{49, 1}, {17, 0}}, owned_slots),
       exchange_job(2, {{49, 1}, {17, 0}}, returned_slots)},
      {seen_too_low, set_too_high, owned_too_many}));
  EXPECT_TRUE(bites(
      {tree_job(4, Top::first_rank, {{2}, {3, 2}, {1, 0}}), tree_job(3, Top::everybody, {{3}, {4}}),
       tree_job(3, Top::first_rank, {{5, 1}, {5, 2}}), tree_job(3, Top::first_rank, {{7, 0}}),
       tree_job(4, Top::leaders, {{2}, {3, 2}, {1, 0}})},
      {done_too_low}));
  EXPECT_TRUE(
      bites({slices_job(2, Results::in_one_place, {{9}, {5, 0}, {5, 1}}),
             slices_job(3, Results::in_one_place, {{9}, {7, 1}}),
             slices_job(4, Results::in_one_place, {{5}}),
             slices_job(3, Results::in_one_place, {{9}, {7, 1}}, memory::by_reader_ownership)}));
  std::vector<Job> jobs = {
      slices_job(2, Results::returned, {{9}, {5, 0}, {5, 1}}),
      slices_job(3, Results::returned, {{9}, {7, 1}}), slices_job(4, Results::returned, {{5}}),
      slices_job(3, Results::returned, {{9, 1}, {7, 0}}, memory::by_reader_ownership),
      scatter_job({{4, 9}, {5, 4}}, slices_of, returned_plan)};
  for (const Prefix prefix : {Prefix::inclusive, Prefix::exclusive}) {
    jobs.push_back(prefix_job(2, {9, 3}, prefix, slices_of, returned_plan));
    jobs.push_back(prefix_job(3, {9, 7}, prefix, slices_of, returned_plan));
  }
  EXPECT_TRUE(bites(jobs));
}

// Every rank receives every notice.
TEST(ReduceChecked, NoticeBoardInEveryOrder) {
  const auto board_job = [](int ranks, std::size_t calls) {
    constexpr std::size_t notice = 4;
    const auto shown = [](int rank, std::size_t call) {
      return Bytes(notice, static_cast<std::byte>(16 * (rank + 1) + static_cast<int>(call)));
    };
    Script script{calls, notice * static_cast<std::size_t>(ranks), shown,
                  [=](int, std::size_t call) {
                    Bytes all;
                    for (int rank = 0; rank < ranks; ++rank) {
                      const Bytes one = shown(rank, call);
                      all.insert(all.end(), one.begin(), one.end());
                    }
                    return all;
                  }};
    struct Board : SmallAllgather {
      using SmallAllgather::SmallAllgather;
      static std::size_t shared_bytes() { return SmallAllgather::shared_bytes(notice); }
    };
    return job_of(
        ranks, script, [](int) { return Board(notice, just_below_wrap); },
        [](Board& board, CheckedContext& ctx, std::size_t) { board.run(ctx, notice); });
  };
  EXPECT_TRUE(passes(board_job(2, 4)));
  EXPECT_TRUE(passes(board_job(3, 3)));
  EXPECT_TRUE(bites({board_job(2, 4), board_job(3, 3)}));
}

}  // namespace
}  // namespace huddle::node::test

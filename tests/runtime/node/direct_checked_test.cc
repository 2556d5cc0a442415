// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Model-checks the single-copy exchanges with working and failing paths. Reductions are in
// direct_reduce_checked_test.cc.
#include "direct_checked.h"

#include <set>

#include "common/error.h"
#include "runtime/context/errors.h"
#include "runtime/node/direct_exchange.h"
#include "runtime/node/pair_exchange.h"

namespace huddle::node::test {
namespace {

using Exchange = DirectCall<DirectExchange>;

std::byte byte_of(int from, int to, std::size_t i) {
  return static_cast<std::byte>(1 + 64 * from + 16 * to + static_cast<int>(i));
}

Bytes block_of(int from, int to, std::size_t bytes) {
  Bytes block;
  for (std::size_t i = 0; i < bytes; ++i) block.push_back(byte_of(from, to, i));
  return block;
}

// Number of bytes that each rank has for each other.
using Table = std::function<std::size_t(int from, int to)>;

// Calls for any context.
auto making_alltoall(int ranks, const Table& table) {
  return [=](DirectExchange& protocol, auto& ctx) {
    const auto out = row(ranks, [&](int to) { return table(ctx.rank(), to); });
    const auto in = row(ranks, [&](int from) { return table(from, ctx.rank()); });
    protocol.exchange(ctx, Blocks::listed(out), Blocks::listed(in), false);
  };
}

Exchange alltoall(int ranks, const Table& table) {
  return {[=](int rank) {
            Bytes all;
            for (int to = 0; to < ranks; ++to) append(all, block_of(rank, to, table(rank, to)));
            return all;
          },
          [=](int rank) {
            Bytes all;
            for (int from = 0; from < ranks; ++from) {
              append(all, block_of(from, rank, table(from, rank)));
            }
            return all;
          },
          making_alltoall(ranks, table)};
}

// In-place blocks have the same size in both directions.
std::size_t swapped_bytes(int from, int to) {
  return static_cast<std::size_t>((from + to) * 2 % 7);
}

Exchange swapped(int ranks) {
  Exchange call = alltoall(ranks, swapped_bytes);
  call.in_place = true;
  call.run = [=](DirectExchange& protocol, CheckedContext& ctx) {
    const auto blocks = row(ranks, [&](int to) { return swapped_bytes(ctx.rank(), to); });
    protocol.swap(ctx, Blocks::listed(blocks));
  };
  return call;
}

Exchange scatter(int ranks, int root, int readers) {
  const auto bytes = [](int to) { return static_cast<std::size_t>(to % 3 + 1); };
  return {
      [=](int rank) {
        Bytes all;
        for (int to = 0; to < ranks; ++to) append(all, block_of(rank, to, bytes(to)));
        return all;
      },
      [=](int rank) { return block_of(root, rank, bytes(rank)); },
      [=](DirectExchange& protocol, CheckedContext& ctx) {
        const auto out = row(ranks, [&](int to) { return ctx.rank() == root ? bytes(to) : 0; });
        protocol.scatter(ctx, Blocks::listed(out), {0, bytes(ctx.rank())}, root, false, {readers});
      }};
}

std::vector<Block> gathered_blocks(int ranks) {
  return row(ranks, [](int from) { return static_cast<std::size_t>((from + 1) % 3 + 1); });
}

auto making_gather(int ranks, int root, int at_once, bool in_place) {
  return [=, blocks = gathered_blocks(ranks)](DirectExchange& protocol, auto& ctx) {
    const Block own = blocks[static_cast<std::size_t>(ctx.rank())];
    protocol.gather(ctx, {0, own.bytes}, ctx.rank() == root ? Blocks::listed(blocks) : Blocks(),
                    root, in_place, {at_once});
  };
}

// Gather by writing to the root. In place, the root's block lies among the others' blocks.
Exchange gather(int ranks, int root, int at_once, bool in_place) {
  const auto blocks = gathered_blocks(ranks);
  const auto own = [blocks](int rank) { return blocks[static_cast<std::size_t>(rank)]; };
  const auto at = [own](int rank) { return static_cast<std::size_t>(own(rank).offset); };
  return {[=](int rank) {
            Bytes all(in_place ? at(rank) : 0, std::byte{0});
            append(all, block_of(rank, root, own(rank).bytes));
            return all;
          },
          [=](int rank) {
            Bytes all;
            for (int from = 0; from < ranks && rank == root; ++from) {
              append(all, block_of(from, root, own(from).bytes));
            }
            return all;
          },
          making_gather(ranks, root, at_once, in_place), in_place, at};
}

Exchange allgather(int ranks, const std::function<std::size_t(int)>& bytes, bool in_place) {
  const auto blocks = row(ranks, bytes);
  const auto at = [blocks](int rank) {
    return static_cast<std::size_t>(blocks[static_cast<std::size_t>(rank)].offset);
  };
  return {[=](int rank) {
            Bytes all(in_place ? at(rank) : 0, std::byte{0});
            append(all, block_of(rank, 0, bytes(rank)));
            return all;
          },
          [=](int) {
            Bytes all;
            for (int from = 0; from < ranks; ++from) append(all, block_of(from, 0, bytes(from)));
            return all;
          },
          [=](DirectExchange& protocol, CheckedContext& ctx) {
            protocol.allgather(ctx, Blocks::listed(blocks), in_place);
          },
          in_place, at};
}

Exchange bcast(std::size_t bytes, int root, int readers) {
  return {[=](int rank) { return block_of(rank, 0, bytes); },
          [=](int rank) { return rank == root ? Bytes{} : block_of(root, 0, bytes); },
          [=](DirectExchange& protocol, CheckedContext& ctx) {
            protocol.bcast(ctx, bytes, root, {readers});
          }};
}

constexpr auto making_exchange = [](int ranks) {
  return [=](int) { return DirectExchange({2}, ranks, just_below_wrap); };
};

Job exchange_job(int ranks, const std::vector<Exchange>& calls) {
  return direct_job<DirectExchange>(ranks, making_exchange(ranks), calls);
}

std::size_t three(int, int) { return 3; }
std::size_t uneven(int from, int to) { return static_cast<std::size_t>((from + 2 * to) % 4); }
std::size_t growing(int rank) { return static_cast<std::size_t>(rank) + 1; }

TEST(DirectChecked, ExchangeInEveryOrder) {
  EXPECT_TRUE(passes(exchange_job(2, {alltoall(2, three), alltoall(2, uneven)})));
  EXPECT_TRUE(passes(exchange_job(3, {alltoall(3, uneven), alltoall(3, three)})));
  EXPECT_TRUE(passes(exchange_job(2, {swapped(2), swapped(2)})));
  EXPECT_TRUE(passes(exchange_job(3, {swapped(3)})));
  EXPECT_TRUE(passes(exchange_job(3, {scatter(3, 1, 1), scatter(3, 0, 0)})));
  EXPECT_TRUE(passes(exchange_job(3, {gather(3, 1, 0, false), gather(3, 1, 1, true)})));
  EXPECT_TRUE(passes(exchange_job(4, {gather(4, 0, 2, false), scatter(4, 2, 1)})));
  EXPECT_TRUE(passes(exchange_job(3, {allgather(3, growing, true), allgather(3, growing, false)})));
  EXPECT_TRUE(passes(exchange_job(4, {bcast(5, 1, 2), bcast(3, 2, 0)})));
}

TEST(DirectChecked, ExchangeFailsTogether) {
  const auto passes_failing = [](int ranks, const std::vector<Exchange>& calls) {
    return passes(with_failing_paths(exchange_job(ranks, calls)));
  };
  EXPECT_TRUE(passes_failing(2, {alltoall(2, three), bcast(3, 1, 0), allgather(2, growing, true)}));
  EXPECT_TRUE(passes_failing(2, {swapped(2), swapped(2)}));
  EXPECT_TRUE(passes_failing(3, {alltoall(3, uneven), bcast(3, 1, 1)}));
  EXPECT_TRUE(passes_failing(2, {gather(2, 1, 0, true), gather(2, 0, 0, false)}));
  EXPECT_TRUE(passes_failing(3, {gather(3, 1, 1, false), bcast(3, 1, 0)}));
}

std::vector<Job> leaving_alltoalls() {
  return leaving_jobs<DirectExchange>(2, 2, making_exchange(2), alltoall(2, three),
                                      making_alltoall(2, three));
}

std::vector<Job> leaving_gathers() {
  std::vector<Job> jobs = leaving_jobs<DirectExchange>(
      2, 1, making_exchange(2), gather(2, 0, 0, false), making_gather(2, 0, 0, false));
  append(jobs, leaving_jobs<DirectExchange>(3, 2, making_exchange(3), gather(3, 0, 0, false),
                                            making_gather(3, 0, 0, false)));
  return jobs;
}

TEST(DirectChecked, LeavingRankRegainsItsMemory) {
  for (const Job& job : leaving_alltoalls()) EXPECT_TRUE(passes(job));
  for (const Job& job : leaving_gathers()) EXPECT_TRUE(passes(job));
}

using Pairs = DirectCall<PairExchange>;

// Uses tiles of two bytes. Even ranks announce blocks of at least three bytes, odd ranks of at
// least four. Announced blocks of at least five bytes are written to odd ranks.
PairExchange::Plan announcing(int rank, PairExchange::Order order) {
  const bool is_even = rank % 2 == 0;
  return {.tile_bytes = 2,
          .order = order,
          .method = memory::CopyKernel::nontemporal,
          .announced_from = is_even ? std::size_t{3} : std::size_t{4},
          .written_from = is_even ? PairExchange::Plan::never : 5};
}

using PlanOfRank = std::function<PairExchange::Plan(int rank)>;

Pairs exchanged(int ranks, const Table& table, const PlanOfRank& plan) {
  const Exchange like = alltoall(ranks, table);
  Pairs call{like.given, like.wanted, [=](PairExchange& protocol, CheckedContext& ctx) {
               const auto out = row(ranks, [&](int to) { return table(ctx.rank(), to); });
               const auto in = row(ranks, [&](int from) { return table(from, ctx.rank()); });
               protocol.run(ctx, Blocks::listed(out), Blocks::listed(in), false, plan(ctx.rank()));
             }};
  call.makes_up_for_failures = true;
  return call;
}

Pairs announced(int ranks, const Table& table, PairExchange::Order order) {
  return exchanged(ranks, table, [=](int rank) { return announcing(rank, order); });
}

// Blocks that are to be replaced are sent in tiles, whatever their size.
Pairs announced_in_place(int ranks) {
  const Exchange like = swapped(ranks);
  Pairs call{like.given, like.wanted, [=](PairExchange& protocol, CheckedContext& ctx) {
               const auto blocks =
                   row(ranks, [&](int to) { return swapped_bytes(ctx.rank(), to); });
               protocol.run(ctx, Blocks::listed(blocks), Blocks::listed(blocks), true,
                            announcing(ctx.rank(), PairExchange::Order::as_ready));
             }};
  call.in_place = true;
  return call;
}

// Each channel has two lines.
constexpr auto making_pairs = [](int ranks) {
  return [=](int) { return PairExchange({2, 2, 2}, ranks, just_below_wrap); };
};

Job pairs_job(int ranks, const std::vector<Pairs>& calls) {
  return direct_job<PairExchange>(ranks, making_pairs(ranks), calls);
}

// The last rank sends `sent` bytes to the rank before it, which expects `expected` bytes but
// receives all other blocks.
Pairs surprising(int ranks, std::size_t sent, std::size_t expected, PairExchange::Order order) {
  const int sender = ranks - 1;
  const int receiver = ranks - 2;
  const Table table = [=](int from, int to) {
    return from == sender && to == receiver ? sent : std::size_t{3};
  };
  Pairs call = announced(ranks, table, order);
  call.wanted = [=, all = call.wanted](int rank) {
    Bytes wanted = all(rank);
    if (rank == receiver) wanted.resize(wanted.size() - sent);
    return wanted;
  };
  call.run = [=](PairExchange& protocol, CheckedContext& ctx) {
    const auto out = row(ranks, [&](int to) { return table(ctx.rank(), to); });
    auto in = row(ranks, [&](int from) { return table(from, ctx.rank()); });
    if (ctx.rank() == receiver) in.back().bytes = expected;
    bool is_surprised = false;
    try {
      protocol.run(ctx, Blocks::listed(out), Blocks::listed(in), false,
                   announcing(ctx.rank(), order));
    } catch (const context::SizesDiffer&) {
      is_surprised = true;
    }
    if (is_surprised != (ctx.rank() == receiver)) throw FailureError("the wrong rank is surprised");
  };
  return call;
}

constexpr auto paired = PairExchange::Order::paired;
constexpr auto staggered = PairExchange::Order::staggered;
constexpr auto as_ready = PairExchange::Order::as_ready;
constexpr PairExchange::Order all_orders[] = {paired, staggered, as_ready};

// Blocks announced by neither, one or both ranks of a pair; some are empty.
std::size_t mixed(int from, int to) { return static_cast<std::size_t>((2 * from + 3 * to) % 6); }
std::size_t five(int, int) { return 5; }
std::size_t two(int, int) { return 2; }
std::size_t one_way(int from, int) { return from == 0 ? 7 : 0; }
// Blocks that fit behind a flag.
std::size_t short_one_way(int from, int) { return from == 0 ? 2 : 0; }
std::size_t one_or_two(int from, int) { return from == 0 ? 2 : 1; }
std::size_t to_last(int, int to) { return to == 2 ? 4 : 0; }
std::size_t to_middle(int, int to) { return to == 1 ? 6 : 0; }
std::size_t from_first(int from, int to) {
  return static_cast<std::size_t>(from == 0 ? to + 2 : 0);
}

TEST(DirectChecked, AnnouncedBlocksInEveryOrder) {
  for (const auto order : all_orders) {
    const auto call = [=](int ranks, const Table& table) { return announced(ranks, table, order); };
    EXPECT_TRUE(passes(pairs_job(2, {call(2, three), call(2, five), call(2, two)})));
    EXPECT_TRUE(passes(pairs_job(3, {call(3, mixed), call(3, uneven)})));
    EXPECT_TRUE(passes(pairs_job(3, {call(3, to_last), call(3, from_first)})));
    EXPECT_TRUE(passes(pairs_job(3, {call(3, to_middle), call(3, to_middle)})));
    EXPECT_TRUE(passes(pairs_job(4, {call(4, mixed)})));
  }
  EXPECT_TRUE(passes(pairs_job(3, {announced_in_place(3)})));
}

TEST(DirectChecked, AnnouncedBlocksArriveOverFailingPaths) {
  for (const auto order : all_orders) {
    const auto call = [=](int ranks, const Table& table) { return announced(ranks, table, order); };
    EXPECT_TRUE(passes(with_failing_paths(pairs_job(2, {call(2, five), call(2, five)}))));
    EXPECT_TRUE(passes(with_failing_paths(pairs_job(3, {call(3, mixed), call(3, five)}))));
    EXPECT_TRUE(passes(with_failing_paths(pairs_job(3, {call(3, to_last), call(3, five)}))));
    EXPECT_TRUE(passes(with_failing_paths(pairs_job(3, {call(3, to_middle), call(3, five)}))));
    EXPECT_TRUE(passes(with_failing_paths(pairs_job(4, {call(4, five)}))));
  }
}

TEST(DirectChecked, ReceiverOfUnexpectedSizeFailsAlone) {
  for (const auto order : all_orders) {
    for (const auto& [sent, expected] : std::vector<std::pair<std::size_t, std::size_t>>{
             {5, 2}, {2, 5}, {9, 4}, {4, 9}, {1, 3}, {3, 2}}) {
      const Pairs next = announced(2, five, order);
      const Job job = pairs_job(2, {surprising(2, sent, expected, order), next});
      EXPECT_TRUE(passes(job));
      EXPECT_TRUE(passes(with_failing_paths(job)));
    }
  }
  EXPECT_TRUE(passes(pairs_job(3, {surprising(3, 9, 4, as_ready)})));
}

// Rank 0's block is read by rank 1, and rank 1 writes its block to rank 0.
std::vector<Job> leaving_announcements() {
  const Table table = [](int from, int) { return std::size_t{from == 0 ? 4U : 5U}; };
  const auto run = [=](PairExchange& protocol, auto& ctx) {
    const auto out = row(2, [&](int to) { return table(ctx.rank(), to); });
    const auto in = row(2, [&](int from) { return table(from, ctx.rank()); });
    protocol.run(ctx, Blocks::listed(out), Blocks::listed(in), false,
                 {.tile_bytes = 2, .order = staggered, .announced_from = 4, .written_from = 5});
  };
  return leaving_jobs<PairExchange>(2, 4, making_pairs(2), announced(2, table, staggered), run);
}

TEST(DirectChecked, LeavingAnnouncerRegainsItsMemory) {
  for (const Job& job : leaving_announcements()) EXPECT_TRUE(passes(job));
}

// Source lines that order callers' non-temporal stores, and those that one of the jobs needs.
struct Orderings {
  std::set<unsigned> all;
  std::set<unsigned> needed;
};

Orderings orderings_of(const std::vector<Job>& jobs) {
  Orderings lines;
  for (const Job& job : jobs) {
    for (const auto& mutation : check::checker::mutations_of(job)) {
      if (mutation.site.operation != check::checker::Operation::order_callers_stores) continue;
      lines.all.insert(mutation.site.line);
      check::checker::Options options;
      options.mutation = mutation;
      if (!explore(job, options).passed()) lines.needed.insert(mutation.site.line);
    }
  }
  return lines;
}

// In each of these jobs callers fill their buffers with non-temporal stores, which no release store
// orders. Collective calls order them once; pairs order them separately for reads and for writes.
TEST(DirectChecked, NontemporalStoresOfCallersAreOrdered) {
  const Orderings in_calls = orderings_of(
      {exchange_job(2, {alltoall(2, three)}), exchange_job(2, {gather(2, 1, 0, false)})});
  EXPECT_EQ(in_calls.all.size(), 1U);
  EXPECT_EQ(in_calls.needed, in_calls.all);
  const Orderings in_pairs = orderings_of({pairs_job(2, {announced(2, three, staggered)}),
                                           pairs_job(3, {announced(3, to_middle, staggered)})});
  EXPECT_EQ(in_pairs.all.size(), 2U);
  EXPECT_EQ(in_pairs.needed, in_pairs.all);
}

TEST(DirectChecked, EveryErrorPlantedIntoExchangesIsFound) {
  const auto failing =
      with_failing_paths(exchange_job(2, {alltoall(2, three), bcast(3, 1, 0), bcast(3, 1, 0)}));
  std::vector<Job> jobs = {
      exchange_job(2, {alltoall(2, three), alltoall(2, uneven), bcast(3, 1, 0)}),
      exchange_job(3, {alltoall(3, uneven), scatter(3, 1, 1)}),
      exchange_job(3, {allgather(3, growing, true), allgather(3, growing, false)}),
      exchange_job(4, {bcast(5, 1, 2), bcast(3, 2, 1)}),
      exchange_job(2, {swapped(2), swapped(2)}),
      exchange_job(3, {swapped(3), swapped(3)}),
      failing};
  append(jobs, leaving_alltoalls());
  EXPECT_TRUE(bites(jobs, excuses_with_departures));
}

TEST(DirectChecked, EveryErrorPlantedIntoWrittenGatherIsFound) {
  const auto failing = with_failing_paths(
      exchange_job(2, {gather(2, 1, 0, false), gather(2, 1, 0, false), bcast(3, 1, 0)}));
  std::vector<Excuse> excuses = excuses_with_departures;
  excuses.push_back({Fault::relaxed, "ctx.wait(of(owner), context::until_reached(value))",
                     "a fence follows, or a look at how it went"});
  std::vector<Job> jobs = {exchange_job(2, {gather(2, 1, 0, false), gather(2, 0, 0, true)}),
                           exchange_job(3, {gather(3, 1, 1, false), gather(3, 1, 0, true)}),
                           failing};
  append(jobs, leaving_alltoalls());
  EXPECT_TRUE(bites(jobs, excuses));
}

TEST(DirectChecked, EveryErrorPlantedIntoAnnouncementsIsFound) {
  const auto failing = [](PairExchange::Order order) {
    return with_failing_paths(pairs_job(
        2, {announced(2, five, order), announced(2, five, order), announced(2, two, order)}));
  };
  const PlanOfRank all_written = [](int) {
    return PairExchange::Plan{
        .tile_bytes = 2, .order = as_ready, .announced_from = 3, .written_from = 3};
  };
  const PlanOfRank in_tiles = [](int) {
    return PairExchange::Plan{.tile_bytes = 2, .order = as_ready};
  };
  const PlanOfRank in_pairs = [](int) { return PairExchange::Plan{.tile_bytes = 2}; };
  std::vector<Job> jobs = {
      pairs_job(2, {exchanged(2, five, all_written), exchanged(2, five, in_tiles)}),
      pairs_job(2, {exchanged(2, one_way, in_pairs)}),
      pairs_job(2, {exchanged(2, two, in_pairs), exchanged(2, one_or_two, in_pairs),
                    exchanged(2, two, in_pairs)}),
      pairs_job(2, std::vector(5, exchanged(2, short_one_way, in_pairs))),
      pairs_job(2, {announced(2, five, as_ready), announced(2, two, as_ready),
                    announced(2, five, as_ready)}),
      pairs_job(3, {announced(3, mixed, staggered), announced(3, five, as_ready)}),
      pairs_job(3, {announced(3, to_middle, staggered), announced(3, five, as_ready)}),
      pairs_job(3, {announced_in_place(3)}),
      pairs_job(2, {surprising(2, 9, 2, staggered), announced(2, five, as_ready)}),
      failing(as_ready),
      failing(paired)};
  append(jobs, leaving_announcements());
  EXPECT_TRUE(bites(
      jobs,
      {only_a_hint(Fault::relaxed),
       only_a_hint(Fault::dropped),
       only_a_hint(Fault::too_early),
       only_a_hint(Fault::plain_compare),
       only_a_hint(Fault::fewer),
       too_early_by_half("until_reached(to_peer.filled)"),
       too_early_by_half("until_reached(from_peer.drained + one)"),
       too_early_by_half("until_reached(needed)"),
       too_early_by_half("until_reached(next)"),
       {Fault::relaxed, "until_reached(next)",
        "the load of the size acquires the payload, and in the model it returns the latest"},
       {Fault::relaxed, "size_word(out.block.bytes)", "the store of the flag orders it"},
       {Fault::relaxed, "size_word(block.bytes)", "the store of the flag orders it"},
       {Fault::one_less, "from_peer.drained = next",
        "the sender waits for a later line, which is drained without waiting for it"},
       {Fault::relaxed, "ctx.store(drained(ctx.rank(), peer)", "nothing but the flag was read"},
       {Fault::one_more, "ctx.store(drained(ctx.rank(), peer)",
        "marks the tile as unread; without announcements the mark is not read"},
       {Fault::relaxed, "ctx.load(line + size_offset)", "whoever looks has seen that flag"},
       {Fault::relaxed, "flag + answer_offset", "the store of the flag orders it"},
       {Fault::relaxed, "drained_flag + answer_offset", "whoever looks has seen that flag"},
       {Fault::relaxed, "ctx.load(left_.of(owner))",
        "whoever sees that the owner is gone does nothing more"}}));
}

}  // namespace
}  // namespace huddle::node::test

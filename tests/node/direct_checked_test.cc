// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The single-copy protocols in every order of events, with paths that work and paths that fail.
#include "direct_checked.h"
#include "node/direct_exchange.h"
#include "node/direct_reduce.h"
#include "node/pair_exchange.h"
#include "node/seats.h"
#include "operators.h"
#include "world/peer_lost.h"

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

void append(Bytes& all, const Bytes& more) { all.insert(all.end(), more.begin(), more.end()); }

// How much each rank has for each.
using Table = std::function<std::size_t(int from, int to)>;

// One rank's blocks of such a table, one after another.
std::vector<Block> row(int ranks, const std::function<std::size_t(int)>& bytes) {
  std::vector<Block> blocks;
  std::ptrdiff_t at = 0;
  for (int other = 0; other < ranks; ++other) {
    blocks.push_back({at, bytes(other)});
    at += static_cast<std::ptrdiff_t>(bytes(other));
  }
  return blocks;
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
          [=](DirectExchange& protocol, CheckerWorld& w) {
            const auto out = row(ranks, [&](int to) { return table(w.rank(), to); });
            const auto in = row(ranks, [&](int from) { return table(from, w.rank()); });
            protocol.exchange(w, Blocks::listed(out), Blocks::listed(in), false);
          }};
}

// In place: the same both ways.
std::size_t swapped_bytes(int from, int to) {
  return static_cast<std::size_t>((from + to) * 2 % 7);
}

Exchange swapped(int ranks) {
  Exchange call = alltoall(ranks, swapped_bytes);
  call.in_place = true;
  call.run = [=](DirectExchange& protocol, CheckerWorld& w) {
    const auto blocks = row(ranks, [&](int to) { return swapped_bytes(w.rank(), to); });
    protocol.swap(w, Blocks::listed(blocks));
  };
  return call;
}

Exchange scatter(int ranks, int root, int readers) {
  const auto bytes = [](int to) { return static_cast<std::size_t>(to % 3 + 1); };
  return {[=](int rank) {
            Bytes all;
            for (int to = 0; to < ranks; ++to) append(all, block_of(rank, to, bytes(to)));
            return all;
          },
          [=](int rank) { return block_of(root, rank, bytes(rank)); },
          [=](DirectExchange& protocol, CheckerWorld& w) {
            const auto out = row(ranks, [&](int to) { return w.rank() == root ? bytes(to) : 0; });
            protocol.scatter(w, Blocks::listed(out), {0, bytes(w.rank())}, root, false, {readers});
          }};
}

// By writing to the root. In place its block lies where the others' are put around it.
Exchange gather(int ranks, int root, int at_once, bool in_place) {
  const auto blocks =
      row(ranks, [](int from) { return static_cast<std::size_t>((from + 1) % 3 + 1); });
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
          [=](DirectExchange& protocol, CheckerWorld& w) {
            protocol.gather(w, {0, own(w.rank()).bytes},
                            w.rank() == root ? Blocks::listed(blocks) : Blocks(), root, in_place,
                            {at_once});
          },
          in_place, at};
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
          [=](DirectExchange& protocol, CheckerWorld& w) {
            protocol.allgather(w, Blocks::listed(blocks), in_place);
          },
          in_place, at};
}

Exchange bcast(std::size_t bytes, int root, int readers) {
  return {[=](int rank) { return block_of(rank, 0, bytes); },
          [=](int rank) { return rank == root ? Bytes{} : block_of(root, 0, bytes); },
          [=](DirectExchange& protocol, CheckerWorld& w) {
            protocol.bcast(w, bytes, root, {readers});
          }};
}

Job exchange_job(int ranks, const std::vector<Exchange>& calls) {
  return direct_job<DirectExchange>(
      ranks, [=](int) { return DirectExchange({2}, ranks, just_below_wrap); }, calls);
}

std::size_t three(int, int) { return 3; }
std::size_t uneven(int from, int to) { return static_cast<std::size_t>((from + 2 * to) % 4); }
std::size_t growing(int rank) { return static_cast<std::size_t>(rank + 1); }

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

// Rank 0 shows a block for each of the others and leaves at once, as one does that hears of a
// death, and its caller uses that memory for something else.
Job leaving_early(int ranks) {
  constexpr std::size_t block = 2;
  const auto part = [](int rank) { return static_cast<std::size_t>(rank) * block; };
  Job job;
  job.ranks = ranks;
  job.sizes = {.shared = page_bytes, .input = part(ranks), .output = part(ranks), .scratch = 0};
  job.prepare = [](world::checker::Memory& memory) {
    for (int rank = 0; rank < memory.ranks(); ++rank) {
      std::ranges::fill(memory.bytes(Region::input, rank), static_cast<std::byte>(1 + rank));
    }
  };
  job.body = [=](CheckerWorld& w) {
    Carver carver;
    Exposures exposures(carver, ranks, just_below_wrap);
    if (w.rank() == 0) {
      for (int peer = 1; peer < ranks; ++peer) {
        exposures.show(w, peer, {Region::output, 0, part(peer)});
      }
      exposures.publish(w);
      exposures.withdraw(w);
      w.copy({Region::output, 0, 0}, {Region::input, 0, 0}, part(ranks), memory::CopyKernel::plain);
      return;
    }
    exposures.publish(w);
    try {
      (void)exposures.push(w, 0, w.rank(), 0, {Region::input, w.rank(), 0}, block);
    } catch (const world::PeerLost&) {
      // The owner was gone first.
    }
  };
  job.verify = [](const world::checker::Memory& memory) {
    const auto own = memory.bytes(Region::input, 0);
    return std::ranges::equal(own, memory.bytes(Region::output, 0)) ? "" : "it was written over";
  };
  return job;
}

TEST(DirectChecked, WhoLeavesEarlyHasItsMemoryForItself) {
  EXPECT_TRUE(passes(leaving_early(2)));
  EXPECT_TRUE(passes(leaving_early(3)));
}

using Pairs = DirectCall<PairExchange>;

// Tiles of two bytes; blocks of three or more are announced by even ranks, of four or more by odd
// ones.
PairExchange::Plan announcing(int rank, PairExchange::Order order, bool all_first) {
  const std::size_t from = rank % 2 == 0 ? 3 : 4;
  return {2, order, all_first, memory::CopyKernel::nontemporal, from};
}

Pairs announced(int ranks, const Table& table, PairExchange::Order order, bool all_first) {
  const Exchange like = alltoall(ranks, table);
  Pairs call{like.given, like.wanted, [=](PairExchange& protocol, CheckerWorld& w) {
               const auto out = row(ranks, [&](int to) { return table(w.rank(), to); });
               const auto in = row(ranks, [&](int from) { return table(from, w.rank()); });
               protocol.run(w, Blocks::listed(out), Blocks::listed(in), false,
                            announcing(w.rank(), order, all_first));
             }};
  call.makes_up_for_failures = true;
  return call;
}

// What is to be replaced is sent in tiles, however large.
Pairs announced_in_place(int ranks) {
  const Exchange like = swapped(ranks);
  Pairs call{like.given, like.wanted, [=](PairExchange& protocol, CheckerWorld& w) {
               const auto blocks = row(ranks, [&](int to) { return swapped_bytes(w.rank(), to); });
               protocol.run(w, Blocks::listed(blocks), Blocks::listed(blocks), true,
                            announcing(w.rank(), PairExchange::Order::paired, true));
             }};
  call.in_place = true;
  return call;
}

// Two lines to a channel.
Job pairs_job(int ranks, const std::vector<Pairs>& calls) {
  return direct_job<PairExchange>(
      ranks,
      [=](int) {
        return PairExchange({2, 2, 2}, ranks, just_below_wrap);
      },
      calls);
}

constexpr auto paired = PairExchange::Order::paired;
constexpr auto staggered = PairExchange::Order::staggered;

// Some that are announced by nobody, by one of the two and by both, some empty.
std::size_t mixed(int from, int to) { return static_cast<std::size_t>((2 * from + 3 * to) % 6); }
std::size_t five(int, int) { return 5; }
std::size_t two(int, int) { return 2; }
std::size_t to_last(int, int to) { return to == 2 ? 4 : 0; }
std::size_t from_first(int from, int to) {
  return static_cast<std::size_t>(from == 0 ? to + 2 : 0);
}

TEST(DirectChecked, AnnouncedBlocksInEveryOrder) {
  for (const auto order : {paired, staggered}) {
    for (const bool all_first : {false, true}) {
      const auto call = [=](int ranks, const Table& table) {
        return announced(ranks, table, order, all_first);
      };
      EXPECT_TRUE(passes(pairs_job(2, {call(2, three), call(2, five), call(2, two)})));
      EXPECT_TRUE(passes(pairs_job(3, {call(3, mixed), call(3, uneven)})));
      EXPECT_TRUE(passes(pairs_job(3, {call(3, to_last), call(3, from_first)})));
      EXPECT_TRUE(passes(pairs_job(4, {call(4, mixed)})));
    }
  }
  EXPECT_TRUE(passes(pairs_job(3, {announced_in_place(3)})));
}

TEST(DirectChecked, AnnouncedBlocksComeWhereTheyCannotBeRead) {
  for (const auto order : {paired, staggered}) {
    for (const bool all_first : {false, true}) {
      const auto call = [=](int ranks, const Table& table) {
        return announced(ranks, table, order, all_first);
      };
      EXPECT_TRUE(passes(with_failing_paths(pairs_job(2, {call(2, five), call(2, five)}))));
      EXPECT_TRUE(passes(with_failing_paths(pairs_job(3, {call(3, mixed), call(3, five)}))));
      EXPECT_TRUE(passes(with_failing_paths(pairs_job(3, {call(3, to_last), call(3, five)}))));
      EXPECT_TRUE(passes(with_failing_paths(pairs_job(4, {call(4, five)}))));
    }
  }
}

using Reduce = DirectCall<DirectReduce>;
const memory::Reduction bracketed = product_of<Bracketed>();
// Of an element each: the most rounds.
constexpr DirectReduce::Plan one_by_one{sizeof(Bracketed)};

Bytes bytes_of(const std::vector<Bracketed>& elements) {
  Bytes bytes(elements.size() * sizeof(Bracketed));
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

Bracketed contribution(int rank, std::size_t i) {
  return {1000 * static_cast<std::uint64_t>(rank + 1) + i};
}

Bytes contributions(int rank, std::size_t count) {
  std::vector<Bracketed> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(contribution(rank, i));
  return bytes_of(all);
}

Bytes joined(int ranks, std::size_t from, std::size_t count) {
  const Association association(flat_seats(ranks));
  std::vector<Bracketed> all;
  for (std::size_t i = from; i < from + count; ++i) {
    all.push_back(joined_by(association, [&](int rank) { return contribution(rank, i); }));
  }
  return bytes_of(all);
}

Reduce allreduce(int ranks, std::size_t count, bool in_place) {
  return {[=](int rank) { return contributions(rank, count); },
          [=](int) { return joined(ranks, 0, count); },
          [=](DirectReduce& protocol, CheckerWorld& w) {
            protocol.allreduce(w, count, bracketed, one_by_one);
          },
          in_place};
}

Reduce reduce(int ranks, std::size_t count, int root, bool in_place) {
  return {[=](int rank) { return contributions(rank, count); },
          [=](int rank) { return rank == root ? joined(ranks, 0, count) : Bytes{}; },
          [=](DirectReduce& protocol, CheckerWorld& w) {
            protocol.reduce(w, count, bracketed, root, one_by_one);
          },
          in_place};
}

Reduce reduce_scatter(int ranks) {
  const auto blocks = row(ranks, [](int rank) { return static_cast<std::size_t>(rank % 2 + 1); });
  const auto mine = [blocks](int rank) { return blocks[static_cast<std::size_t>(rank)]; };
  const std::size_t count = static_cast<std::size_t>(blocks.back().offset) + blocks.back().bytes;
  return {[=](int rank) { return contributions(rank, count); },
          [=](int rank) {
            return joined(ranks, static_cast<std::size_t>(mine(rank).offset), mine(rank).bytes);
          },
          [=](DirectReduce& protocol, CheckerWorld& w) {
            protocol.reduce_scatter(w, Blocks::listed(blocks), bracketed, one_by_one);
          }};
}

Job reduce_job(int ranks, int cells, const std::vector<Reduce>& calls) {
  return direct_job<DirectReduce>(
      ranks,
      [=](int) {
        return DirectReduce({sizeof(Bracketed), cells}, Association(flat_seats(ranks)),
                            just_below_wrap);
      },
      calls);
}

TEST(DirectChecked, ReduceInEveryOrder) {
  EXPECT_TRUE(passes(reduce_job(2, 2, {allreduce(2, 5, false), allreduce(2, 3, true)})));
  EXPECT_TRUE(passes(reduce_job(3, 2, {allreduce(3, 4, true), allreduce(3, 1, false)})));
  EXPECT_TRUE(passes(reduce_job(2, 2, {reduce(2, 7, 1, false), reduce(2, 3, 0, true)})));
  EXPECT_TRUE(passes(reduce_job(3, 2, {reduce(3, 8, 0, true)})));
  EXPECT_TRUE(passes(reduce_job(3, 2, {reduce_scatter(3), reduce_scatter(3)})));
}

TEST(DirectChecked, ReduceFailsTogether) {
  EXPECT_TRUE(passes(
      with_failing_paths(reduce_job(2, 2, {allreduce(2, 5, true), reduce(2, 5, 1, false)}))));
  EXPECT_TRUE(passes(with_failing_paths(reduce_job(3, 2, {allreduce(3, 4, false)}))));
  EXPECT_TRUE(passes(with_failing_paths(reduce_job(3, 1, {reduce(3, 6, 1, false)}))));
}

bool everybodys(int) { return true; }
bool of_even_ranks(int rank) { return rank % 2 == 0; }

TEST(DirectChecked, ReduceWhereOthersAreReached) {
  for (const auto whose : {everybodys, of_even_ranks}) {
    const auto passes_reaching = [whose](const Job& job) {
      return passes(with_reachable(job, whose));
    };
    EXPECT_TRUE(passes_reaching(reduce_job(2, 2, {allreduce(2, 5, false), allreduce(2, 3, true)})));
    EXPECT_TRUE(passes_reaching(reduce_job(3, 2, {allreduce(3, 4, true), reduce(3, 4, 1, false)})));
    EXPECT_TRUE(passes_reaching(reduce_job(2, 2, {reduce(2, 7, 1, true), reduce(2, 3, 0, false)})));
    EXPECT_TRUE(passes_reaching(reduce_job(3, 2, {reduce(3, 8, 0, true), reduce(3, 5, 1, true)})));
    EXPECT_TRUE(passes_reaching(reduce_job(3, 1, {reduce(3, 8, 2, false), reduce_scatter(3)})));
    EXPECT_TRUE(passes_reaching(
        with_failing_paths(reduce_job(2, 2, {allreduce(2, 5, true), reduce(2, 5, 1, false)}))));
  }
}

// What a failure is told by is no flag that anything else follows.
const std::vector<Excuse> told_before_the_flag = {
    {Fault::relaxed, "w.store(failure_at(", "the store of the flag that follows orders it"},
    {Fault::relaxed, "w.load(failure_at(", "whoever looks has seen that flag, and reads no more"}};

TEST(DirectChecked, EveryErrorPlantedIntoExchangesIsFound) {
  const auto failing =
      with_failing_paths(exchange_job(2, {alltoall(2, three), bcast(3, 1, 0), bcast(3, 1, 0)}));
  EXPECT_TRUE(bites(
      {exchange_job(2, {alltoall(2, three), alltoall(2, uneven), bcast(3, 1, 0)}),
       exchange_job(3, {alltoall(3, uneven), scatter(3, 1, 1)}),
       exchange_job(3, {allgather(3, growing, true), allgather(3, growing, false)}),
       exchange_job(4, {bcast(5, 1, 2), bcast(3, 2, 1)}), exchange_job(2, {swapped(2), swapped(2)}),
       exchange_job(3, {swapped(3), swapped(3)}), failing},
      told_before_the_flag));
}

TEST(DirectChecked, EveryErrorPlantedIntoAGatherThatIsWrittenIsFound) {
  const auto failing = with_failing_paths(
      exchange_job(2, {gather(2, 1, 0, false), gather(2, 1, 0, false), bcast(3, 1, 0)}));
  std::vector<Excuse> excuses = told_before_the_flag;
  excuses.push_back({Fault::relaxed, "w.load(withdrawn_.of(owner))",
                     "whoever sees that the owner is gone does nothing more"});
  EXPECT_TRUE(bites({exchange_job(2, {gather(2, 1, 0, false), gather(2, 0, 0, true)}),
                     exchange_job(3, {gather(3, 1, 1, false), gather(3, 1, 0, true)}), failing,
                     leaving_early(2), leaving_early(3)},
                    excuses));
}

TEST(DirectChecked, EveryErrorPlantedIntoAnnouncementsIsFound) {
  const auto failing = [](bool all_first) {
    return with_failing_paths(
        pairs_job(2, {announced(2, five, paired, all_first), announced(2, five, paired, all_first),
                      announced(2, two, paired, all_first)}));
  };
  EXPECT_TRUE(bites(
      {pairs_job(2, {announced(2, five, paired, true), announced(2, two, paired, true),
                     announced(2, five, staggered, true)}),
       pairs_job(3, {announced(3, mixed, staggered, false), announced(3, five, paired, true)}),
       pairs_job(3, {announced_in_place(3)}), failing(true), failing(false)},
      {too_early_by_half("until_reached(to_peer.filled)"),
       too_early_by_half("until_reached(from_peer.drained + one)")}));
}

TEST(DirectChecked, EveryErrorPlantedIntoReductionsIsFound) {
  const auto failing = with_failing_paths(
      reduce_job(2, 2, {allreduce(2, 5, true), allreduce(2, 2, true), allreduce(2, 2, true)}));
  EXPECT_TRUE(bites(
      {reduce_job(2, 2, {allreduce(2, 5, false), allreduce(2, 3, true)}),
       reduce_job(3, 2, {allreduce(3, 4, true), reduce_scatter(3)}),
       reduce_job(2, 2, {reduce(2, 7, 1, false), reduce(2, 7, 0, true)}),
       reduce_job(3, 1, {reduce(3, 8, 0, true), reduce(3, 7, 1, false)}),
       reduce_job(4, 2, {allreduce(4, 5, false)}), failing,
       with_reachable(reduce_job(2, 2, {allreduce(2, 5, true), allreduce(2, 3, true)}), everybodys),
       with_reachable(reduce_job(3, 2, {reduce(3, 8, 0, true), reduce(3, 7, 1, false)}),
                      everybodys),
       with_reachable(reduce_job(3, 2, {reduce(3, 8, 0, true), reduce_scatter(3)}), of_even_ranks)},
      told_before_the_flag));
}

}  // namespace
}  // namespace huddle::node::test

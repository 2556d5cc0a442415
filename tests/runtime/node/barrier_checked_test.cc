// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Model-checks the barriers: data written before a barrier is read after it, by every rank.
#include "checked.h"
#include "runtime/node/barrier_protocols.h"
#include "runtime/node/locality.h"
#include "shapes.h"

namespace huddle::node::test {
namespace {

constexpr std::size_t word = 8;

// In each call a rank writes its word, enters the barrier, and reads the words of all ranks. Two
// words are used alternately, because one is written while the other may still be read.
template <class Barrier>
Job barrier_job(int ranks, std::size_t calls, const std::function<Barrier(int)>& make) {
  const std::size_t window = word * static_cast<std::size_t>(ranks);
  const auto value = [](int rank, std::size_t call) {
    return static_cast<std::byte>(16 * (rank + 1) + static_cast<int>(call));
  };
  Script script{calls, window,
                [=](int rank, std::size_t call) { return Bytes(window, value(rank, call)); },
                [=](int, std::size_t call) {
                  Bytes all;
                  for (int rank = 0; rank < ranks; ++rank) {
                    all.insert(all.end(), word, value(rank, call));
                  }
                  return all;
                }};
  std::size_t flags = 0;
  for (int rank = 0; rank < ranks; ++rank) flags = std::max(flags, make(rank).shared_bytes());
  Job job =
      job_of(ranks, script, make, [flags](Barrier& barrier, CheckedContext& ctx, std::size_t call) {
        const auto word_of = [&](int rank) {
          return Address{Region::shared, rank, flags + call % 2 * word};
        };
        ctx.copy(word_of(ctx.rank()), {Region::input, ctx.rank(), 0}, word,
                 memory::CopyKernel::plain);
        barrier.run(ctx);
        for (int rank = 0; rank < ctx.ranks(); ++rank) {
          ctx.copy({Region::output, ctx.rank(), word * static_cast<std::size_t>(rank)},
                   word_of(rank), word, memory::CopyKernel::plain);
        }
      });
  job.sizes.shared = flags + 2 * word;
  return job;
}

Job tree_job(int ranks, std::size_t calls, const Shape& shape,
             const TreeBarrier::Parameters& parameters) {
  return barrier_job<TreeBarrier>(ranks, calls, [=](int rank) {
    return TreeBarrier(tree(shape, unknown_locality(ranks), 0), parameters, rank, just_below_wrap);
  });
}

Job dissemination_job(int ranks, std::size_t calls,
                      const DisseminationBarrier::Parameters& parameters) {
  return barrier_job<DisseminationBarrier>(ranks, calls, [=](int rank) {
    return DisseminationBarrier(parameters, rank, ranks, just_below_wrap);
  });
}

// The two phases of a barrier with the root's work between them, as between nodes. Each rank writes
// its word and calls gather(); the root then gathers all words, which stands for its exchange with
// other nodes, and every rank reads them once release() has returned. Words and results are at the
// same place in each call, so a rank that is released too early overwrites them.
Job phases_job(int ranks, std::size_t calls, const Shape& shape,
               const TreeBarrier::Parameters& parameters) {
  const std::size_t window = word * static_cast<std::size_t>(ranks);
  const auto value = [](int rank, std::size_t call) {
    return static_cast<std::byte>(16 * (rank + 1) + static_cast<int>(call));
  };
  const Script script{calls, window,
                      [=](int rank, std::size_t call) { return Bytes(window, value(rank, call)); },
                      [=](int, std::size_t call) {
                        Bytes all;
                        for (int rank = 0; rank < ranks; ++rank)
                          all.insert(all.end(), word, value(rank, call));
                        return all;
                      }};
  const auto make = [=](int rank) {
    return TreeBarrier(tree(shape, unknown_locality(ranks), 0), parameters, rank, just_below_wrap);
  };
  std::size_t flags = 0;
  for (int rank = 0; rank < ranks; ++rank) flags = std::max(flags, make(rank).shared_bytes());
  constexpr int root = 0;
  const Address result{Region::shared, root, flags + word};
  Job job =
      job_of(ranks, script, make, [=](TreeBarrier& barrier, CheckedContext& ctx, std::size_t) {
        const auto word_of = [&](int rank) { return Address{Region::shared, rank, flags}; };
        ctx.copy(word_of(ctx.rank()), {Region::input, ctx.rank(), 0}, word,
                 memory::CopyKernel::plain);
        barrier.gather(ctx);
        for (int rank = 0; rank < ctx.ranks() && ctx.rank() == root; ++rank) {
          ctx.copy(result + word * static_cast<std::size_t>(rank), word_of(rank), word,
                   memory::CopyKernel::plain);
        }
        barrier.release(ctx);
        ctx.copy({Region::output, ctx.rank(), 0}, result, window, memory::CopyKernel::plain);
      });
  job.sizes.shared = flags + word + window;
  return job;
}

TEST(BarrierChecked, EveryOrderOfAFewRanks) {
  for (const Release release : {Release::announced, Release::same_line, Release::own_queue}) {
    EXPECT_TRUE(passes(tree_job(2, 3, flat, {1, release})));
    EXPECT_TRUE(passes(tree_job(3, 3, flat, {2, release})));
    EXPECT_TRUE(passes(tree_job(3, 3, chain, {1, release})));
    EXPECT_TRUE(passes(tree_job(4, 2, binary, {1, release})));
  }
  for (int ranks = 2; ranks <= 4; ++ranks) {
    EXPECT_TRUE(passes(dissemination_job(ranks, ranks == 4 ? 2 : 3, {2, 1})));
  }
  EXPECT_TRUE(passes(dissemination_job(2, 3, {2, 2})));
  EXPECT_TRUE(passes(dissemination_job(3, 3, {3, 2})));
  EXPECT_TRUE(passes(dissemination_job(4, 2, {4, 4})));
}

TEST(BarrierChecked, RootWorkBetweenPhasesInEveryOrder) {
  for (const Release release : {Release::announced, Release::same_line, Release::own_queue}) {
    EXPECT_TRUE(passes(phases_job(2, 3, flat, {1, release})));
    EXPECT_TRUE(passes(phases_job(3, 3, flat, {2, release})));
    EXPECT_TRUE(passes(phases_job(3, 3, chain, {1, release})));
    EXPECT_TRUE(passes(phases_job(4, 2, binary, {1, release})));
  }
}

TEST(BarrierChecked, EveryErrorPlantedIntoThePhasesIsFound) {
  EXPECT_TRUE(bites({phases_job(2, 3, flat, {1, Release::own_queue}),
                     phases_job(3, 3, chain, {1, Release::announced}),
                     phases_job(4, 3, binary, {1, Release::same_line})}));
}

TEST(BarrierChecked, EveryPlantedErrorIsFound) {
  EXPECT_TRUE(bites({tree_job(2, 3, flat, {1, Release::own_queue}),
                     tree_job(3, 3, chain, {1, Release::announced}),
                     tree_job(4, 3, binary, {1, Release::same_line})}));
  EXPECT_TRUE(bites({dissemination_job(2, 3, {2, 2}), dissemination_job(3, 3, {2, 1}),
                     dissemination_job(3, 3, {3, 3})}));
}

}  // namespace
}  // namespace huddle::node::test

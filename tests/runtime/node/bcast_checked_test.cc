// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Model-checks the broadcasts, with changing roots and data.
#include <optional>

#include "checked.h"
#include "runtime/node/bcast_protocols.h"
#include "runtime/node/locality.h"
#include "shapes.h"

namespace huddle::node::test {
namespace {

// Size and root of one call.
struct Bcast {
  std::size_t bytes = 0;
  int root = 0;
};

std::byte value(const Bcast& bcast, std::size_t call, std::size_t i) {
  return static_cast<std::byte>(1 + 31 * call + 7 * static_cast<std::size_t>(bcast.root) + i);
}

template <class Make, class Run>
Job bcast_job(int ranks, const std::vector<Bcast>& calls, Make make, Run run) {
  std::size_t window = 1;
  for (const Bcast& bcast : calls) window = std::max(window, bcast.bytes);
  const auto message = [calls](std::size_t call) {
    Bytes bytes(calls[call].bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = value(calls[call], call, i);
    return bytes;
  };
  Script script{calls.size(), window,
                [=](int rank, std::size_t call) {
                  return rank == calls[call].root ? message(call) : Bytes{};
                },
                [=](int rank, std::size_t call) {
                  return rank == calls[call].root ? Bytes{} : message(call);
                }};
  return job_of(ranks, script, make,
                [calls, run](auto& protocol, CheckedContext& ctx, std::size_t call) {
                  run(protocol, ctx, calls[call].bytes, calls[call].root);
                });
}

Job inline_job(int ranks, const Shape& shape, const std::vector<Bcast>& calls, int slots = 2) {
  return bcast_job(
      ranks, calls,
      [=](int rank) {
        return InlineBcast({{shape}, 8, slots}, unknown_locality(ranks), rank, just_below_wrap);
      },
      [](InlineBcast& protocol, CheckedContext& ctx, std::size_t bytes, int root) {
        protocol.run(ctx, bytes, root, 0);
      });
}

// Size of the cells or segments, and the copy methods.
struct Pieces {
  std::size_t bytes = 4;
  memory::CopyMethod method = memory::CopyKernel::nontemporal;
  std::optional<memory::CopyMethod> answer = {};
};
constexpr Pieces taken_pieces{64, memory::by_reader_ownership};
constexpr Pieces answered_pieces{4, memory::CopyKernel::nontemporal, memory::by_ping_pong};

// A set has two cells.
Job pipelined_job(int ranks, const Shape& shape, const std::vector<Bcast>& calls, int sets,
                  const Pieces& cells = {}) {
  return bcast_job(
      ranks, calls,
      [=](int rank) {
        return PipelinedBcast({{shape}, cells.bytes, 2, sets}, unknown_locality(ranks), rank,
                              just_below_wrap);
      },
      [=](PipelinedBcast& protocol, CheckedContext& ctx, std::size_t bytes, int root) {
        protocol.run(ctx, bytes, root, {0, 1, cells.method, cells.answer});
      });
}

// Assigns the ranks to two memories alternately.
Job segmented_job(int ranks, const std::vector<Bcast>& calls, const Pieces& segments = {}) {
  RankLocality locality = unknown_locality(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    locality.memory_of[static_cast<std::size_t>(rank)] = rank % 2;
  return bcast_job(
      ranks, calls,
      [=](int rank) {
        return SegmentedBcast({1, segments.bytes}, locality, rank, just_below_wrap);
      },
      [=](SegmentedBcast& protocol, CheckedContext& ctx, std::size_t bytes, int root) {
        protocol.run(ctx, bytes, root, {segments.bytes, segments.method});
      });
}

TEST(BcastChecked, InlineInEveryOrder) {
  EXPECT_TRUE(passes(inline_job(2, flat, {{8, 0}, {3, 0}, {8, 0}, {5, 1}})));
  EXPECT_TRUE(passes(inline_job(3, flat, {{8, 0}, {3, 0}, {8, 2}, {5, 0}})));
  EXPECT_TRUE(passes(inline_job(3, chain, {{8, 0}, {3, 1}, {8, 2}, {5, 0}})));
  EXPECT_TRUE(passes(inline_job(4, binary, {{8, 1}, {3, 1}, {8, 1}})));
}

TEST(BcastChecked, PipelinedInEveryOrder) {
  EXPECT_TRUE(passes(pipelined_job(2, flat, {{22, 0}, {3, 1}, {4, 0}}, 2)));
  EXPECT_TRUE(passes(pipelined_job(3, chain, {{12, 0}, {5, 2}, {9, 1}}, 1)));
  EXPECT_TRUE(passes(pipelined_job(3, flat, {{12, 0}, {9, 1}}, 2)));
  EXPECT_TRUE(passes(pipelined_job(4, binary, {{9, 1}, {9, 1}}, 1)));
}

TEST(BcastChecked, SegmentedInEveryOrder) {
  EXPECT_TRUE(passes(segmented_job(2, {{22, 0}, {3, 1}, {4, 0}})));
  EXPECT_TRUE(passes(segmented_job(3, {{17, 0}, {5, 2}})));
}

TEST(BcastChecked, ReaderTakesOwnershipInEveryOrder) {
  EXPECT_TRUE(passes(pipelined_job(2, flat, {{350, 0}, {60, 1}, {64, 0}}, 2, taken_pieces)));
  EXPECT_TRUE(passes(segmented_job(2, {{350, 0}, {60, 1}, {64, 0}}, taken_pieces)));
}

// A reader that takes ownership of data that others read as well is detected.
TEST(BcastChecked, TwoReadersMustNotTakeOwnership) {
  EXPECT_FALSE(passes(pipelined_job(3, flat, {{128, 0}}, 2, taken_pieces)));
  EXPECT_FALSE(passes(segmented_job(3, {{128, 0}}, taken_pieces)));
}

// Answers shorter and longer than the message read, longer than the queue, and by repeated roots.
TEST(BcastChecked, RootAnswersInEveryOrder) {
  EXPECT_TRUE(passes(pipelined_job(2, flat, {{9, 0}, {3, 1}, {12, 0}}, 2, answered_pieces)));
  EXPECT_TRUE(passes(pipelined_job(2, flat, {{22, 0}, {3, 1}, {4, 1}}, 2, answered_pieces)));
  EXPECT_TRUE(
      passes(pipelined_job(2, flat, {{3, 1}, {22, 0}, {9, 0}, {9, 1}}, 1, answered_pieces)));
  EXPECT_TRUE(passes(pipelined_job(2, flat, {{9, 0}, {9, 1}, {9, 0}, {9, 0}, {9, 0}, {9, 1}}, 2,
                                   answered_pieces)));
}

// An empty call does not show a rank that anything has been read.
TEST(BcastChecked, EmptyCallConveysNoProgress) {
  for (const Pieces& pieces : {Pieces{}, answered_pieces}) {
    EXPECT_TRUE(passes(pipelined_job(2, flat, {{15, 1}, {0, 0}, {15, 1}}, 2, pieces)));
  }
}

// Only one of the two readers of the cells knows when they were read.
TEST(BcastChecked, RootMustNotAnswerInCellsOfTwoReaders) {
  EXPECT_FALSE(passes(pipelined_job(3, flat, {{9, 0}, {9, 1}}, 4, answered_pieces)));
}

TEST(BcastChecked, EveryErrorPlantedIntoAnswersIsFound) {
  EXPECT_TRUE(bites({pipelined_job(2, flat, {{30, 0}, {3, 1}, {30, 0}}, 2, answered_pieces),
                     pipelined_job(2, flat, {{9, 0}, {22, 1}, {9, 1}}, 1, answered_pieces)}));
}

TEST(BcastChecked, EveryErrorPlantedIntoTakingOwnershipIsFound) {
  EXPECT_TRUE(bites({pipelined_job(2, flat, {{450, 0}, {60, 1}, {64, 0}}, 2, taken_pieces),
                     segmented_job(2, {{450, 0}, {350, 1}}, taken_pieces)}));
}

TEST(BcastChecked, EveryPlantedErrorIsFound) {
  EXPECT_TRUE(bites({inline_job(3, chain, {{8, 0}, {3, 0}, {8, 0}, {5, 0}, {8, 2}, {8, 1}}),
                     inline_job(3, flat, {{8, 0}, {8, 1}, {8, 0}, {8, 1}, {8, 0}})},
                    {done_too_low}));
  EXPECT_TRUE(bites({pipelined_job(2, flat, {{30, 0}, {3, 1}, {4, 0}}, 2),
                     pipelined_job(3, chain, {{22, 0}, {12, 1}, {5, 2}}, 1),
                     pipelined_job(3, chain, {{12, 1}, {12, 2}, {12, 0}}, 2)}));
  EXPECT_TRUE(bites({segmented_job(2, {{30, 0}, {22, 1}}), segmented_job(3, {{17, 0}, {25, 2}})}));
}

}  // namespace
}  // namespace huddle::node::test

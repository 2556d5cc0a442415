// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "check/counting/counted_context.h"
#include "common/error.h"
#include "runtime/context/context.h"

namespace huddle::check::counting {
namespace {

constexpr auto plain = memory::CopyKernel::plain;
constexpr std::size_t nontemporal = static_cast<std::size_t>(memory::CopyKernel::nontemporal);

context::Address line(int owner, std::size_t n) { return {context::Region::shared, owner, 64 * n}; }

Job job_of(int ranks, std::function<void(CountedContext&)> body) {
  Job job;
  job.ranks = ranks;
  job.sizes = {.shared = 512, .input = 256, .output = 256, .scratch = 64};
  job.body = std::move(body);
  return job;
}

constexpr context::Sequence round_at(int i) {
  return context::first_sequence + 1 + static_cast<context::Sequence>(i);
}

// One rank raises its flag, the other answers.
Counts ping_pong(std::size_t second_offset, int rounds) {
  return count(job_of(2, [=](CountedContext& ctx) {
    const context::Address ping = line(0, 0);
    const context::Address pong = ping + second_offset;
    for (int i = 0; i < rounds; ++i) {
      if (ctx.rank() == 0) ctx.store(ping, round_at(i));
      ctx.wait(ctx.rank() == 0 ? pong : ping, context::until_reached(round_at(i)));
      if (ctx.rank() == 1) ctx.store(pong, round_at(i));
    }
  }));
}

TEST(Counting, PingPongMovesOneLineEachWay) {
  const Counts counts = ping_pong(64, 10);
  for (const int rank : {0, 1}) {
    EXPECT_EQ(counts.of[static_cast<std::size_t>(rank)].stores, 10U);
    EXPECT_EQ(counts.of[static_cast<std::size_t>(rank)].loads, 10U);
    EXPECT_EQ(counts.transfers(rank, 1 - rank), 10U);
    EXPECT_EQ(counts.transfers(rank, rank), 0U);
  }
}

// The answering rank already has the cache line.
TEST(Counting, SharingALineDoesNotChangePingPong) {
  EXPECT_EQ(ping_pong(4, 10), ping_pong(64, 10));
}

// Both ranks store, then both load.
TEST(Counting, WritersOfOneLineTakeItFromEachOther) {
  const auto exchange = [](std::size_t second_offset) {
    return count(job_of(2,
                        [=](CountedContext& ctx) {
                          const context::Address flags[] = {line(0, 0), line(0, 0) + second_offset};
                          ctx.store(flags[ctx.rank()], round_at(0));
                          ctx.wait(flags[1 - ctx.rank()], context::until_reached(round_at(0)));
                        }))
        .all_transfers();
  };
  EXPECT_EQ(exchange(64), 2U);
  EXPECT_EQ(exchange(4), 2U);  // taken by the second store, and back by the first rank's load
}

TEST(Counting, IsDeterministic) { EXPECT_EQ(ping_pong(64, 20), ping_pong(64, 20)); }

// Many readers of one flag: one line per reader, from the writer.
TEST(Counting, RecordsSourceOfEachTransfer) {
  const Counts counts = count(job_of(4, [](CountedContext& ctx) {
    if (ctx.rank() == 0) ctx.store(line(0, 0), round_at(0));
    ctx.wait(line(0, 0), context::until_reached(round_at(0)));
  }));
  EXPECT_EQ(counts.all_transfers(), 3U);
  for (const int reader : {1, 2, 3}) EXPECT_EQ(counts.transfers(0, reader), 1U);
}

void add(void* to, const void* left, const void* right, std::size_t n, void*) {
  for (std::size_t i = 0; i < n; ++i) {
    static_cast<int*>(to)[i] = static_cast<const int*>(left)[i] + static_cast<const int*>(right)[i];
  }
}

TEST(Counting, CountsBytesAndComputesResults) {
  constexpr memory::Reduction sum{add, nullptr, sizeof(int), true};
  Job job = job_of(2, [&sum](CountedContext& ctx) {
    ctx.copy(line(ctx.rank(), 1), {context::Region::input, ctx.rank(), 0}, 256,
             memory::CopyKernel::nontemporal);
    ctx.store(line(ctx.rank(), 0), round_at(0));
    ctx.wait(line(1 - ctx.rank(), 0), context::until_reached(round_at(0)));
    ctx.reduce({context::Region::output, ctx.rank(), 0}, line(0, 1), line(1, 1), 64, sum);
  });
  job.prepare = [](checker::Memory& memory) {
    for (const int rank : {0, 1}) {
      for (int& number : memory.as<int>(context::Region::input, rank)) number = 5 + rank;
    }
  };
  bool looked = false;
  job.look = [&looked](const checker::Memory& memory) {
    for (const int rank : {0, 1}) {
      EXPECT_THAT(memory.as<const int>(context::Region::output, rank), testing::Each(11));
    }
    looked = true;
  };
  const Counts counts = count(job);
  EXPECT_TRUE(looked);
  for (const int rank : {0, 1}) {
    const RankCounts& mine = counts.of[static_cast<std::size_t>(rank)];
    EXPECT_EQ(mine.copied_bytes[nontemporal], 256U);
    EXPECT_EQ(mine.copied_bytes[static_cast<std::size_t>(plain)], 0U);
    EXPECT_EQ(mine.reduced_bytes, 256U);
    EXPECT_EQ(counts.transfers(1 - rank, rank), 1U + 256 / 64);
  }
}

// Lines whose ownership a reader has taken come back from the reader, by one transfer per line.
TEST(Counting, CountsLinesWhoseOwnershipIsTaken) {
  const Counts counts = count(job_of(2, [](CountedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.copy(line(0, 1), {context::Region::input, 0, 0}, 256, plain);
      ctx.store(line(0, 0), round_at(0));
      ctx.wait(line(1, 0), context::until_reached(round_at(0)));
      ctx.copy(line(0, 1), {context::Region::input, 0, 0}, 256, plain);
    } else {
      ctx.wait(line(0, 0), context::until_reached(round_at(0)));
      ctx.copy_and_own({context::Region::output, 1, 0}, line(0, 1), 256);
      ctx.store(line(1, 0), round_at(0));
    }
  }));
  EXPECT_EQ(counts.of[1].copied_bytes[static_cast<std::size_t>(plain)], 256U);
  EXPECT_EQ(counts.transfers(0, 1), 1U + 256 / 64);
  EXPECT_EQ(counts.transfers(1, 0), 1U + 256 / 64);
}

TEST(Counting, CountsUpdatesOfSleepingRanks) {
  const context::Doorbell bell{line(0, 0), line(0, 1)};
  const Counts counts = count(job_of(3, [&bell](CountedContext& ctx) {
    if (ctx.rank() == 0) {
      ctx.wait(bell.sleepers, context::until_reached(bell.nobody + 2));
      ring(ctx, bell, round_at(0));
    } else {
      sleep_until(ctx, bell, context::until_reached(round_at(0)));
    }
  }));
  EXPECT_EQ(counts.of[0].updates, 0U);
  // One update before a rank sleeps, one after it has woken up.
  for (const std::size_t sleeper : {1U, 2U}) EXPECT_EQ(counts.of[sleeper].updates, 2U);
}

TEST(Counting, ThrowsIfAllRanksAreBlocked) {
  const Job job = job_of(3, [](CountedContext& ctx) {
    const std::vector<int> owned(100);
    ctx.wait(line(ctx.rank(), 0), context::until_reached(round_at(0)));
  });
  EXPECT_THROW(count(job), FailureError);
}

TEST(Counting, RethrowsExceptionOfARank) {
  EXPECT_THROW(count(job_of(3,
                            [](CountedContext& ctx) {
                              if (ctx.rank() == 1) throw std::runtime_error("enough");
                              ctx.wait(line(1, 0), context::until_reached(round_at(0)));
                            })),
               std::runtime_error);
  EXPECT_THROW(count(job_of(2, [](CountedContext& ctx) { ctx.load(line(0, 8)); })), UsageError);
}

}  // namespace
}  // namespace huddle::check::counting

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Collectives on blocks through the C interface: blocks at any place and of any size, and invalid
// calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "c_ranks.h"

namespace huddle::api {
namespace {

using ByteValues = std::vector<unsigned char>;
using Sums = std::vector<std::int64_t>;

constexpr int ranks = 3;
constexpr std::size_t room = 100;  // for each block, mostly unused

std::size_t bytes_between(int from, int to) {
  return static_cast<std::size_t>(7 * from + 13 * to) % 50;
}
unsigned char letter(int from, int to, std::size_t i) {
  return static_cast<unsigned char>(1 + 71 * from + 29 * to + static_cast<int>(i));
}

// Returns a block for each rank, from the last rank to the first, with gaps.
template <class Size>
std::vector<huddle_block> blocks_by(Size size) {
  std::vector<huddle_block> blocks;
  for (int rank = 0; rank < ranks; ++rank) {
    blocks.push_back({static_cast<std::ptrdiff_t>(room) * (ranks - 1 - rank), size(rank)});
  }
  return blocks;
}
template <class Letter>
ByteValues filled(const std::vector<huddle_block>& blocks, Letter of) {
  ByteValues bytes(room * ranks, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const huddle_block& block = blocks[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < block.bytes; ++i) {
      bytes[static_cast<std::size_t>(block.offset) + i] = of(rank, i);
    }
  }
  return bytes;
}

TEST(Exchanges, MoveBlocksOfAnySizes) {
  run_c_teams(ranks, [](const TeamHandle& team) {
    const int me = huddle_team_rank(team.get());
    const auto out = blocks_by([&](int to) { return bytes_between(me, to); });
    const auto in = blocks_by([&](int from) { return bytes_between(from, me); });
    const ByteValues input = filled(out, [&](int to, std::size_t i) { return letter(me, to, i); });
    const ByteValues wanted =
        filled(in, [&](int from, std::size_t i) { return letter(from, me, i); });
    ByteValues output(room * ranks, 0);
    must(huddle_alltoallv(team.get(), input.data(), out.data(), output.data(), in.data()), team);
    EXPECT_EQ(output, wanted);

    // Gather the blocks for rank 1 on all ranks and on rank 1, and scatter them again.
    const auto all = blocks_by([](int from) { return bytes_between(from, 1); });
    const ByteValues gathered =
        filled(all, [](int from, std::size_t i) { return letter(from, 1, i); });
    const unsigned char* const mine = input.data() + out[1].offset;
    ByteValues everywhere(room * ranks, 0);
    must(huddle_allgatherv(team.get(), mine, everywhere.data(), all.data()), team);
    EXPECT_EQ(everywhere, gathered);
    ByteValues at_root(room * ranks, 0);
    must(huddle_gatherv(team.get(), mine, bytes_between(me, 1), me == 1 ? at_root.data() : nullptr,
                        me == 1 ? all.data() : nullptr, 1),
         team);
    if (me == 1) {
      EXPECT_EQ(at_root, gathered);
    }
    ByteValues back(bytes_between(me, 1), 0);
    must(huddle_scatterv(team.get(), me == 1 ? at_root.data() : nullptr,
                         me == 1 ? all.data() : nullptr, back.data(), back.size(), 1),
         team);
    EXPECT_EQ(back, ByteValues(mine, mine + back.size()));
  });
}

TEST(Exchanges, MoveEvenBlocksInRankOrder) {
  run_c_teams(ranks, [](const TeamHandle& team) {
    const auto me = static_cast<unsigned char>(huddle_team_rank(team.get()));
    ByteValues all(ranks, 0);
    must(huddle_allgather(team.get(), &me, all.data(), 1), team);
    EXPECT_EQ(all, (ByteValues{0, 1, 2}));
    for (auto& one : all) one = static_cast<unsigned char>(10 * one + me);
    must(huddle_alltoall(team.get(), all.data(), all.data(), 1), team);
    const auto tens = static_cast<unsigned char>(10 * me);
    EXPECT_EQ(all, (ByteValues{tens, static_cast<unsigned char>(tens + 1),
                               static_cast<unsigned char>(tens + 2)}));
    must(huddle_gather(team.get(), &all[2], me == 2 ? all.data() : nullptr, 1, 2), team);
    if (me == 2) {
      EXPECT_EQ(all, (ByteValues{2, 12, 22}));
    }
    unsigned char mine = 0;
    must(huddle_scatter(team.get(), me == 2 ? all.data() : nullptr, &mine, 1, 2), team);
    EXPECT_EQ(mine, 10 * me + 2);
  });
}

TEST(Exchanges, ReduceScatterAndScan) {
  run_c_teams(ranks, [](const TeamHandle& team) {
    const auto me = static_cast<std::size_t>(huddle_team_rank(team.get()));
    const std::vector<std::size_t> counts = {2, 0, 3};
    Sums input(5);
    std::iota(input.begin(), input.end(), static_cast<std::int64_t>(100 * me));
    const Sums total = {300, 303, 306, 309, 312};
    Sums output(counts[me]);
    must(huddle_reduce_scatter(team.get(), input.data(), output.data(), counts.data(), HUDDLE_INT64,
                               HUDDLE_SUM),
         team);
    const std::size_t begin = me == 2 ? 2 : 0;
    EXPECT_EQ(output, Sums(total.data() + begin, total.data() + begin + counts[me]));

    Sums even = {1, 10, 100};
    must(huddle_reduce_scatter_block(team.get(), even.data(), even.data(), 1, HUDDLE_INT64,
                                     HUDDLE_SUM),
         team);
    EXPECT_EQ(even.front(), me == 0 ? 3 : me == 1 ? 30 : 300);

    std::int64_t number = static_cast<std::int64_t>(me) + 1;
    std::int64_t before = -7;
    must(huddle_exscan(team.get(), &number, &before, 1, HUDDLE_INT64, HUDDLE_SUM), team);
    EXPECT_EQ(before, me == 0 ? -7 : me == 1 ? 1 : 3);
    must(huddle_scan(team.get(), &number, &number, 1, HUDDLE_INT64, HUDDLE_SUM), team);
    EXPECT_EQ(number, me == 0 ? 1 : me == 1 ? 3 : 6);
  });
}

// Appends decimal digits: 1, then 12, then 123. The last rank's number is the longest.
void append_digits(void* result, const void* left, const void* right, std::size_t count, void*) {
  const auto digits = [](std::int64_t number) {
    std::int64_t ten = 10;
    while (ten <= number) ten *= 10;
    return ten;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t first = static_cast<const std::int64_t*>(left)[i];
    const std::int64_t then = static_cast<const std::int64_t*>(right)[i];
    static_cast<std::int64_t*>(result)[i] = first * digits(then) + then;
  }
}

TEST(Exchanges, KeepRankOrderOfUserOperators) {
  run_c_teams(ranks, [](const TeamHandle& team) {
    const huddle_reduction by{sizeof(std::int64_t), append_digits, nullptr};
    const int me = huddle_team_rank(team.get());
    for (const std::size_t count : {std::size_t{1}, std::size_t{50'000}}) {
      const Sums input(count, me + 1);
      Sums output(count, 0);
      must(huddle_scan_by(team.get(), input.data(), output.data(), count, &by), team);
      EXPECT_THAT(output, testing::Each(me == 0 ? 1 : me == 1 ? 12 : 123));
      output.assign(count, -1);
      must(huddle_exscan_by(team.get(), input.data(), output.data(), count, &by), team);
      EXPECT_THAT(output, testing::Each(me == 0 ? -1 : me == 1 ? 1 : 12));
      const std::vector<std::size_t> counts = {0, count, 0};
      must(huddle_reduce_scatter_by(team.get(), input.data(), output.data(), counts.data(), &by),
           team);
      if (me == 1) {
        EXPECT_THAT(output, testing::Each(123));
      }
    }
  });
}

// The last rank sends more or less to rank 0 than rank 0 expects.
TEST(Exchanges, UnexpectedSizeIsAnErrorOfItsReceiverOnly) {
  run_c_teams(ranks, [](const TeamHandle& team) {
    const int me = huddle_team_rank(team.get());
    struct Sizes {
      std::size_t sent;
      std::size_t expected;
    };
    for (const Sizes& sizes : {Sizes{20, 10}, Sizes{10, 20}}) {
      const bool is_surprised = me == 0;
      const auto size = [&](int from, int to) -> std::size_t {
        if (from != ranks - 1 || to != 0) return 30;
        return is_surprised ? sizes.expected : sizes.sent;
      };
      const auto out = blocks_by([&](int to) { return size(me, to); });
      const auto in = blocks_by([&](int from) { return size(from, me); });
      const ByteValues input =
          filled(out, [&](int to, std::size_t i) { return letter(me, to, i); });
      auto come = in;
      if (is_surprised) come.back().bytes = 0;
      const ByteValues wanted =
          filled(come, [&](int from, std::size_t i) { return letter(from, me, i); });
      ByteValues output(room * ranks, 0);
      EXPECT_EQ(huddle_alltoallv(team.get(), input.data(), out.data(), output.data(), in.data()),
                is_surprised ? HUDDLE_MISUSED : HUDDLE_OK);
      EXPECT_EQ(output, wanted);
      if (is_surprised) {
        EXPECT_THAT(huddle_team_message(team.get()), testing::HasSubstr("which expects"));
      }
    }
    must(huddle_barrier(team.get()), team);
  });
}

// Each rank passes two sizes for its block to itself. Its output has room for the smaller one only,
// and the blocks of other ranks still arrive.
void expect_own_block_rejected(const TeamHandle& team, std::size_t sent, std::size_t expected) {
  const int me = huddle_team_rank(team.get());
  const int all = huddle_team_ranks(team.get());
  const auto at = [&](int rank) { return static_cast<std::size_t>(rank); };
  std::vector<huddle_block> out;
  std::vector<huddle_block> in;
  for (int rank = 0; rank < all; ++rank) {
    const auto offset = static_cast<std::ptrdiff_t>(room) * rank;
    out.push_back({offset, rank == me ? sent : 30});
    in.push_back({offset, rank == me ? expected : 30});
  }
  const ByteValues input(room * at(all), 7);
  ByteValues output(room * at(all), 0);
  const auto expect_only_others = [&](bool others_arrive) {
    for (int rank = 0; rank < all; ++rank) {
      const auto begin = output.begin() + in[at(rank)].offset;
      const auto arrived = static_cast<std::size_t>(std::count(begin, begin + room, 7));
      EXPECT_EQ(arrived, rank != me && others_arrive ? 30U : 0U) << "from rank " << rank;
    }
    EXPECT_THAT(huddle_team_message(team.get()), testing::HasSubstr("to itself"));
    std::fill(output.begin(), output.end(), 0);
  };
  EXPECT_EQ(huddle_alltoallv(team.get(), input.data(), out.data(), output.data(), in.data()),
            HUDDLE_MISUSED);
  expect_only_others(true);
  for (int root = 0; root < all; ++root) {
    const bool is_root = me == root;
    EXPECT_EQ(huddle_gatherv(team.get(), input.data(), is_root ? sent : 30, output.data(),
                             in.data(), root),
              is_root ? HUDDLE_MISUSED : HUDDLE_OK);
    if (is_root) expect_only_others(true);
    EXPECT_EQ(huddle_scatterv(team.get(), input.data(), out.data(),
                              output.data() + in[at(me)].offset, is_root ? expected : 30, root),
              is_root ? HUDDLE_MISUSED : HUDDLE_OK);
    if (is_root) expect_only_others(false);
    std::fill(output.begin(), output.end(), 0);
  }
  must(huddle_barrier(team.get()), team);
}

TEST(Exchanges, OwnBlockOfTwoSizesIsAnError) {
  for (const int all : {1, ranks}) {
    run_c_teams(all, [](const TeamHandle& team) {
      expect_own_block_rejected(team, 100, 10);
      expect_own_block_rejected(team, 10, 20);
      expect_own_block_rejected(team, 0, 20);
      expect_own_block_rejected(team, 20, 0);
    });
  }
}

TEST(Exchanges, RejectInvalidArguments) {
  run_c_teams(1, [](const TeamHandle& team) {
    huddle_team* const t = team.get();
    char data[8] = {};
    const huddle_block block{0, 8};
    const auto why = [&](huddle_status status) {
      EXPECT_EQ(status, HUDDLE_MISUSED);
      return std::string(huddle_team_message(t));
    };
    EXPECT_THAT(why(huddle_allgather(t, nullptr, data, 1)), testing::HasSubstr("input is null"));
    EXPECT_THAT(why(huddle_alltoall(t, data, nullptr, 1)), testing::HasSubstr("output is null"));
    EXPECT_THAT(why(huddle_allgatherv(t, data, data, nullptr)),
                testing::HasSubstr("blocks are null"));
    EXPECT_THAT(why(huddle_alltoallv(t, nullptr, &block, data, &block)),
                testing::HasSubstr("input is null"));
    EXPECT_THAT(why(huddle_gather(t, data, data, 1, 1)), testing::HasSubstr("root"));
    EXPECT_THAT(why(huddle_scatterv(t, nullptr, &block, data, 8, 0)),
                testing::HasSubstr("input is null"));
    EXPECT_THAT(why(huddle_reduce_scatter(t, data, data, nullptr, HUDDLE_INT8, HUDDLE_SUM)),
                testing::HasSubstr("counts are null"));
    EXPECT_THAT(why(huddle_scan(t, data, data, SIZE_MAX, HUDDLE_INT8, HUDDLE_SUM)),
                testing::HasSubstr("than memory can hold"));
  });
  EXPECT_EQ(huddle_exscan(nullptr, nullptr, nullptr, 0, HUDDLE_INT8, HUDDLE_SUM), HUDDLE_MISUSED);
  EXPECT_EQ(huddle_gatherv(nullptr, nullptr, 0, nullptr, nullptr, 0), HUDDLE_MISUSED);
}

}  // namespace
}  // namespace huddle::api

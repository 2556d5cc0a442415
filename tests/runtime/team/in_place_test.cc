// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The operations by the plans that the team chooses, in place and out of place.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "exercise.h"
#include "model/machine/locate.h"
#include "ranks.h"
#include "runtime/team/team.h"
#include "setup.h"

namespace huddle::team {
namespace {

using Numbers = std::vector<std::uint32_t>;

// Returns word i of the data from rank `from` to rank `to`.
std::uint32_t word(int from, int to, std::size_t i, std::uint32_t seed) {
  return seed + 1000003U * static_cast<std::uint32_t>(from) +
         10007U * static_cast<std::uint32_t>(to) + static_cast<std::uint32_t>(i);
}

class Operations {
 public:
  Operations(Team& team, std::size_t count, std::uint32_t seed)
      : team_(team), count_(count), bytes_(count * sizeof(std::uint32_t)), seed_(seed) {}

  void allgather(bool in_place) const {
    Numbers out(count_ * ranks(), 0);
    const Numbers mine = block(team_.rank(), 0);
    std::uint32_t* const own = out.data() + count_ * rank();
    if (in_place) std::copy(mine.begin(), mine.end(), own);
    team_.allgather(in_place ? own : mine.data(), out.data(), bytes_);
    Numbers wanted;
    for (int from = 0; from < team_.ranks(); ++from) append(wanted, block(from, 0));
    ASSERT_EQ(out, wanted);
  }
  void alltoall(bool in_place) const {
    Numbers in;
    Numbers wanted;
    for (int peer = 0; peer < team_.ranks(); ++peer) {
      append(in, block(team_.rank(), peer));
      append(wanted, block(peer, team_.rank()));
    }
    Numbers out(in.size(), 0);
    team_.alltoall(in.data(), in_place ? in.data() : out.data(), bytes_);
    ASSERT_EQ(in_place ? in : out, wanted);
  }
  void alltoallv_in_place() const {
    std::vector<node::Block> blocks;
    Numbers data;
    Numbers wanted;
    for (int peer = 0; peer < team_.ranks(); ++peer) {
      const auto pair = static_cast<std::size_t>(peer + team_.rank());
      const std::size_t count = count_ * (pair % 3) / 2;
      blocks.push_back({static_cast<std::ptrdiff_t>(data.size() * sizeof(std::uint32_t)),
                        count * sizeof(std::uint32_t)});
      append(data, block(team_.rank(), peer, count));
      append(wanted, block(peer, team_.rank(), count));
    }
    const auto listed = node::Blocks::listed(blocks);
    team_.alltoallv(data.data(), listed, data.data(), listed);
    ASSERT_EQ(data, wanted);
  }
  void gather(int root, bool in_place) const {
    const bool is_root = team_.rank() == root;
    const Numbers mine = block(team_.rank(), root);
    Numbers out(is_root ? count_ * ranks() : 0, 0);
    std::uint32_t* const own = is_root ? out.data() + count_ * rank() : nullptr;
    const bool stays = is_root && in_place;
    if (stays) std::copy(mine.begin(), mine.end(), own);
    team_.gather(stays ? own : mine.data(), out.data(), bytes_, root);
    Numbers wanted;
    for (int from = 0; is_root && from < team_.ranks(); ++from) append(wanted, block(from, root));
    ASSERT_EQ(out, wanted);
  }
  void scatter(int root, bool in_place) const {
    const bool is_root = team_.rank() == root;
    Numbers in;
    for (int to = 0; is_root && to < team_.ranks(); ++to) append(in, block(root, to));
    Numbers out(count_, 0);
    const bool stays = is_root && in_place;
    team_.scatter(in.data(), stays ? in.data() + count_ * rank() : out.data(), bytes_, root);
    if (stays) out.assign(in.data() + count_ * rank(), in.data() + count_ * (rank() + 1));
    ASSERT_EQ(out, block(root, team_.rank()));
  }
  void reduce_scatter(bool in_place) const {
    const std::size_t all = count_ * ranks();
    Numbers in = numbers(all, seed_ + static_cast<std::uint32_t>(team_.rank()));
    Numbers out(count_, 0);
    team_.reduce_scatter(in.data(), in_place ? in.data() : out.data(), node::Blocks::even(count_),
                         sum);
    if (in_place) out.assign(in.data(), in.data() + count_);
    const Numbers total = sums(all, team_.ranks(), seed_);
    ASSERT_EQ(out, Numbers(total.data() + count_ * rank(), total.data() + count_ * (rank() + 1)));
  }
  void scans(bool in_place) const {
    const Numbers mine = numbers(count_, seed_ + static_cast<std::uint32_t>(team_.rank()));
    Numbers in = mine;
    Numbers out(count_, 7);
    team_.scan(in.data(), in_place ? in.data() : out.data(), count_, sum);
    ASSERT_EQ(in_place ? in : out, sums(count_, team_.rank() + 1, seed_));
    in = mine;
    out.assign(count_, 7);
    team_.exscan(in.data(), in_place ? in.data() : out.data(), count_, sum);
    const Numbers before = team_.rank() > 0 ? sums(count_, team_.rank(), seed_)
                                            : (in_place ? mine : Numbers(count_, 7));
    ASSERT_EQ(in_place ? in : out, before);
  }

 private:
  std::size_t rank() const { return static_cast<std::size_t>(team_.rank()); }
  std::size_t ranks() const { return static_cast<std::size_t>(team_.ranks()); }
  Numbers block(int from, int to) const { return block(from, to, count_); }
  Numbers block(int from, int to, std::size_t count) const {
    Numbers values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = word(from, to, i, seed_);
    return values;
  }
  static void append(Numbers& all, const Numbers& part) {
    all.insert(all.end(), part.begin(), part.end());
  }

  Team& team_;
  std::size_t count_;
  std::size_t bytes_;
  std::uint32_t seed_;
};

void call_all(Team& team, std::size_t count, std::uint32_t seed) {
  const Operations operations(team, count, seed);
  const int root = static_cast<int>(seed % static_cast<std::uint32_t>(team.ranks()));
  for (const bool in_place : {false, true}) {
    operations.allgather(in_place);
    operations.alltoall(in_place);
    operations.gather(root, in_place);
    operations.scatter(root, in_place);
    operations.reduce_scatter(in_place);
    operations.scans(in_place);
  }
  operations.alltoallv_in_place();
}

class InPlace : public testing::TestWithParam<int> {};

TEST_P(InPlace, AndOutOfPlaceAreCorrect) {
  const auto ends = run_ranks(GetParam(), [](const Bootstrap& bootstrap) {
    Context context(generic_options("pack:2 numa:1 l3:1 core:2 pu:1", 256 * MiB));
    Team team(context, bootstrap);
    std::uint32_t seed = 1;
    for (const std::size_t count : {0, 1, 3, 10, 100, 2000, 60000}) {
      call_all(team, count, seed += 1000);
      call_all(team, count, seed += 1001);
    }
  });
  for (const RankEnd& end : ends) EXPECT_EQ(end.how, RankEnd::How::fine) << end;
}

INSTANTIATE_TEST_SUITE_P(Ranks, InPlace, testing::Values(1, 2, 3, 4, 6),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace huddle::team

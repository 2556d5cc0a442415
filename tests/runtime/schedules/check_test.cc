// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/schedules/check.h"

#include <gtest/gtest.h>

#include "proofs.h"

namespace huddle::schedules {
namespace {

class Checked : public ::testing::TestWithParam<Algorithm> {};

// Estimates the cost of a proof in blocks received; a round costs the same as a few blocks.
std::int64_t work_of(const Algorithm& algorithm, int ranks) {
  constexpr std::int64_t blocks_a_round = 4;
  const auto schedule = make_schedule(algorithm, {.ranks = ranks});
  std::int64_t work = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const RankTraffic traffic = schedule->traffic(rank);
    work += blocks_a_round * traffic.rounds + traffic.blocks_received;
  }
  return work;
}

// Returns all roots if time allows or NET_RANKS is set, else the first, the last and random ones.
std::vector<int> roots_of(const Algorithm& algorithm, int ranks, std::minstd_rand& random) {
  if (!has_root(algorithm.operation)) return {0};
  constexpr std::int64_t most = 1 << 19;
  std::vector<int> roots;
  const bool has_time = std::getenv("NET_RANKS") != nullptr;
  if (ranks <= 256 && (has_time || work_of(algorithm, ranks) * ranks <= most)) {
    for (int root = 0; root < ranks; ++root) roots.push_back(root);
    return roots;
  }
  roots = {0, ranks - 1};
  for (int i = 0; i < 3; ++i) {
    roots.push_back(static_cast<int>(random() % static_cast<unsigned>(ranks)));
  }
  return roots;
}

void prove(const Algorithm& algorithm, int ranks, std::minstd_rand& random) {
  for (const int root : roots_of(algorithm, ranks, random)) {
    const auto calls = calls_of(algorithm, {.ranks = ranks, .root = root});
    // Few ranks are tested with all parameters, more ranks with one parameter set each.
    constexpr int few = 40;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (ranks > few && static_cast<std::size_t>(ranks + root) % calls.size() != i) continue;
      ASSERT_EQ(flaw_of(algorithm, calls[i]), "");
    }
  }
}

void prove_all(const Algorithm& algorithm, int first_ranks, int last_ranks) {
  std::minstd_rand random(20261124);
  for (int ranks = first_ranks; ranks <= last_ranks; ++ranks) prove(algorithm, ranks, random);
}

// If NET_RANKS=FIRST..LAST is set, proves these numbers of ranks instead.
TEST_P(Checked, IsProvenForUpTo64Ranks) {
  int first = 1;
  int last = 64;
  if (const char* const range = std::getenv("NET_RANKS")) {
    ASSERT_EQ(std::sscanf(range, "%d..%d", &first, &last), 2) << range;
  }
  prove_all(GetParam(), first, last);
}

TEST_P(Checked, IsProvenFor65To256Ranks) { prove_all(GetParam(), 65, 256); }

// Powers of two and their neighbors, then random numbers, within a budget of work.
TEST_P(Checked, IsProvenForSomeMoreRanks) {
  std::minstd_rand random(20261124);
  std::vector<int> counts;
  for (int power = 512; power <= 4096; power *= 2) {
    for (const int ranks : {power, power - 1, power + 1}) counts.push_back(ranks);
  }
  for (int i = 0; i < 60; ++i) counts.push_back(257 + static_cast<int>(random() % 3840));
  // Sufficient for all numbers if there are few rounds and no root.
  std::int64_t left = 270'000'000;
  for (const int ranks : counts) {
    const std::int64_t roots = has_root(GetParam().operation) ? 5 : 1;
    const std::int64_t work = work_of(GetParam(), ranks) * roots;
    if (work > left) continue;
    left -= work;
    prove(GetParam(), ranks, random);
  }
}

TEST_P(Checked, HintsAreCorrect) {
  for (const int ranks : {1, 2, 3, 7, 8, 13, 16, 33, 64}) {
    for (const Call& call : calls_of(GetParam(), {.ranks = ranks})) {
      EXPECT_EQ(flaw_in_hints(*make_schedule(GetParam(), call)), std::nullopt)
          << told(GetParam(), call);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Net, Checked,
                         ::testing::ValuesIn(algorithms().begin(), algorithms().end()), test_name);

}  // namespace
}  // namespace huddle::schedules

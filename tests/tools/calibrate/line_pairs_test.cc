// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/line_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::calibrate {
namespace {

Summary of(double ns) {
  Summary summary;
  summary.count = 1;
  summary.median = ns;
  return summary;
}

// A pair without samples must not affect the matrix of all others.
TEST(PairsOf, LeavesOutIncompleteRows) {
  std::map<Pair, Summary> lines;
  for (const Pair& pair : all_pairs({0, 1, 2, 3, 4})) lines[pair] = of(10);
  lines.erase({1, 3});
  lines.erase({2, 3});
  const auto pairs = pairs_of(lines);
  ASSERT_TRUE(pairs);
  EXPECT_EQ(pairs->pus, (std::vector<int>{0, 1, 2, 4}));
}

TEST(PairsOf, IsMatrixOfAllPairs) {
  std::map<Pair, Summary> lines = {{{0, 1}, of(10)}, {{0, 4}, of(30)}};
  lines[{1, 4}] = of(20);
  const auto pairs = pairs_of(lines);
  ASSERT_TRUE(pairs);
  EXPECT_EQ(pairs->pus, (std::vector<int>{0, 1, 4}));
  EXPECT_EQ(pairs->one_way_ns, (std::vector<double>{0, 10, 30, 10, 0, 20, 30, 20, 0}));
  EXPECT_FALSE(pairs_of({}));
}

TEST(FilledPairs, UsesLevelIfPairWasNotMeasured) {
  const auto topology = machine::discover_from_synthetic("pack:2 core:2 pu:1").topology;
  const machine::Machine machine = machine::generic_machine(topology);
  const auto pairs = filled_pairs(machine, {2, 0, 1}, {{{0, 1}, of(7)}});
  ASSERT_TRUE(pairs);
  EXPECT_EQ(pairs->pus, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(pairs->one_way_ns[1], 7);
  EXPECT_EQ(pairs->one_way_ns[2], machine.line.back().one_way_ns);
  EXPECT_EQ(pairs->one_way_ns[6], machine.line.back().one_way_ns);
  EXPECT_FALSE(filled_pairs(machine, {3}, {}));
}

// Two groups of three: pairs within each, and pairs between them.
TEST(PairsOfClusters, ComeFromAllClusters) {
  std::map<Pair, Summary> lines;
  for (int a = 0; a < 6; ++a) {
    for (int b = a + 1; b < 6; ++b) lines[{a, b}] = of(a / 3 == b / 3 ? 50 : 150);
  }
  const auto pairs = pairs_of_clusters(*pairs_of(lines), 6);
  EXPECT_LE(pairs.size(), 6U);
  int inside_first = 0;
  int inside_second = 0;
  int across = 0;
  for (const auto& [a, b] : pairs) {
    (a / 3 != b / 3 ? across : a < 3 ? inside_first : inside_second) += 1;
  }
  EXPECT_GT(inside_first, 0);
  EXPECT_GT(inside_second, 0);
  EXPECT_GT(across, 0);
}

}  // namespace
}  // namespace huddle::calibrate

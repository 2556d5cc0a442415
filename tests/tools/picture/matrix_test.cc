// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/matrix.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "machines.h"
#include "tools/picture/facts.h"
#include "tools/picture/picture.h"

namespace huddle::picture {
namespace {

using testing::ElementsAre;

TEST(LatencyMatrix, UsesLevelsWithoutMeasurements) {
  const LatencyMatrix matrix = latency_matrix(synthetic("pack:2 core:2 pu:1").machine);
  EXPECT_THAT(matrix.cores, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(matrix.at(0, 0), 0);
  EXPECT_EQ(matrix.at(0, 1), 10);
  EXPECT_EQ(matrix.at(1, 2), 20);
  ASSERT_EQ(matrix.edges.size(), 1U);
  EXPECT_EQ(matrix.edges[0].row, 2);
}

TEST(LatencyMatrix, PrefersMeasuredPairs) {
  machine::Machine machine = synthetic("core:2 pu:1").machine;
  machine.pairs = machine::LinePairs{{0, 1}, {0, 47, 47, 0}, "every pair"};
  EXPECT_EQ(latency_matrix(machine).at(0, 1), 47);
}

TEST(LatencyMatrix, HasTheLatencyBetweenThreadsOfACoreOnItsDiagonal) {
  const LatencyMatrix matrix = latency_matrix(synthetic("core:2 pu:2").machine);
  EXPECT_THAT(matrix.cores, ElementsAre(0, 2));
  EXPECT_THAT(matrix.one_way_ns, ElementsAre(10, 20, 20, 10));
  EXPECT_TRUE(shows_threads(in_blocks(matrix, 1)));
  EXPECT_FALSE(shows_threads(in_blocks(matrix, 2)));
  EXPECT_EQ(scale_of(in_blocks(matrix, 1)).least_ns, 10);
  EXPECT_FALSE(shows_threads(in_blocks(latency_matrix(synthetic("core:2 pu:1").machine), 1)));
}

TEST(LatencyMatrix, KeepsNeighboursTogetherIfNumbersAreInterleaved) {
  machine::Topology topology;
  topology.pus = cpus(0, 4);
  topology.levels = {{"package", {cpus(0, 2, 2), cpus(1, 2, 2)}, {}}};
  const LatencyMatrix matrix = latency_matrix(with_latencies(topology));
  EXPECT_THAT(matrix.cores, ElementsAre(0, 2, 1, 3));
  EXPECT_EQ(matrix.at(0, 1), 10);
}

TEST(Blocks, AverageWithoutTheDiagonal) {
  const LatencyMatrix matrix = latency_matrix(synthetic("pack:2 core:2 pu:1").machine);
  const Blocks blocks = in_blocks(matrix, 2);
  EXPECT_THAT(blocks.first, ElementsAre(0, 2));
  EXPECT_THAT(blocks.ns, ElementsAre(10, 20, 20, 10));
  ASSERT_EQ(blocks.edges.size(), 1U);
  EXPECT_EQ(blocks.edges[0].row, 1);
}

TEST(Blocks, LastOneMayBeSmaller) {
  const LatencyMatrix matrix = latency_matrix(synthetic("core:3 pu:1").machine);
  const Blocks blocks = in_blocks(matrix, 2);
  EXPECT_THAT(blocks.ns, ElementsAre(10, 10, 10, 0));
}

TEST(FittingBlock, KeepsTheEdgesOfSockets) {
  const LatencyMatrix matrix = latency_matrix(synthetic("pack:8 core:10 pu:1").machine);
  EXPECT_EQ(fitting_block(matrix, 80), 1);
  EXPECT_EQ(fitting_block(matrix, 27), 5);  // 3 would suffice, but 5 divides 10
}

TEST(LabelStep, PrefersOuterEdges) {
  // Steps of 3 would suffice and match more caches, but steps of 4 match the sockets.
  const Blocks blocks = in_blocks(latency_matrix(synthetic("pack:2 l3:8 core:2 pu:1").machine), 2);
  EXPECT_EQ(label_step(blocks, 2, 5), 4);
  EXPECT_EQ(label_step(blocks, 5, 5), 1);
}

RC_GTEST_PROP(FittingBlock, NeverNeedsMoreCells, ()) {
  const LatencyMatrix matrix = latency_matrix(with_latencies(any_topology()));
  const int most = *rc::gen::inRange(1, 100);
  RC_ASSERT(in_blocks(matrix, fitting_block(matrix, most)).size() <= most);
}

TEST(Scale, IsLogarithmic) {
  const Scale scale{10, 1000};
  EXPECT_DOUBLE_EQ(scale.fraction(10), 0);
  EXPECT_DOUBLE_EQ(scale.fraction(100), 0.5);
  EXPECT_DOUBLE_EQ(scale.fraction(1000), 1);
  EXPECT_DOUBLE_EQ(scale.ns_at(0.5), 100);
  EXPECT_TRUE((Scale{10, 10}.flat()));
  EXPECT_EQ((Scale{10, 10}.fraction(10)), 0);
}

TEST(Shades, OneForEachLatencyIfThereAreFew) {
  const Blocks blocks = in_blocks(latency_matrix(synthetic("pack:2 core:2 pu:1").machine), 1);
  const Shades shades = shades_for(blocks, scale_of(blocks), false);
  EXPECT_EQ(shades.of(10), ".");
  EXPECT_EQ(shades.of(20), "@");
  EXPECT_EQ(shades.legend(), ".. 10, @@ 20 ns");
}

TEST(Shades, RangesIfThereAreMany) {
  Blocks blocks;
  blocks.ns = {0, 10, 12, 15, 20, 30, 50, 70, 100, 640};
  const Shades shades = shades_for(blocks, scale_of(blocks), false);
  EXPECT_EQ(shades.legend(), ".. to 20, :: to 40, ++ to 80, ** to 160, ## to 320, @@ to 640 ns");
  EXPECT_EQ(shades.of(15), ".");
  EXPECT_EQ(shades.of(100), "*");
  EXPECT_EQ(shades.of(10000), "@");
}

TEST(LatencyOrigin, DistinguishesEstimatesFromMeasurements) {
  machine::Machine machine = synthetic("pack:2 core:2 pu:1").machine;
  EXPECT_EQ(latency_origin(machine), "estimated, not measured");
  machine.line.front().origin = machine::Origin::measured;
  EXPECT_EQ(latency_origin(machine), "measured for some shared levels, estimated for the others");
  for (machine::LineCost& line : machine.line) line.origin = machine::Origin::measured;
  EXPECT_EQ(latency_origin(machine), "measured for each shared level");
  machine.line.front().origin = machine::Origin::published;
  EXPECT_EQ(latency_origin(machine), "measured for some shared levels, estimated for the others");
  machine.pairs = machine::LinePairs{{0, 1}, {0, 47, 47, 0}, "every pair"};
  EXPECT_EQ(latency_origin(machine), "measured (every pair)");
}

// Both pictures state whether their numbers are measured.
TEST(LatencyOrigin, IsInTextAndSvg) {
  const Subject subject = synthetic("pack:2 core:2 pu:1");
  EXPECT_THAT(as_text(subject, {}), testing::HasSubstr("in ns, estimated, not measured"));
  EXPECT_THAT(as_svg(subject), testing::HasSubstr("estimated, not measured"));
}

}  // namespace
}  // namespace huddle::picture

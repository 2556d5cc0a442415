// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/infer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>

#include "common/error.h"
#include "simulated_machines.h"

namespace huddle::machine {
namespace {

// The smallest deterministic case: two groups of three, with one pair far too slow.
TEST(Infer, ToleratesASlowPairInAGroupOfThree) {
  Cluster machine = in_order(around({cores(3, 20), cores(3, 20)}, exactly(1.5)));
  LinePairs pairs;
  pairs.pus = machine.cpus.cpus();
  for (const int a : pairs.pus) {
    for (const int b : pairs.pus) {
      const bool slow = std::max(a, b) == 1;
      pairs.one_way_ns.push_back(a == b ? 0 : slow ? 200 : true_latency(machine, a, b));
    }
  }
  EXPECT_EQ(shape(infer_levels(pairs)), shape(machine));
}

TEST(Infer, ReturnsTheLatencyOfEachGroup) {
  Random random(1);
  const Cluster hidden = shuffled(hybrid_of_unequal_halves(exactly(1.8)), random);
  const Cluster found = infer_levels(Sampler(Conditions(), random).sample(hidden));
  EXPECT_NEAR(found.one_way_ns, hidden.one_way_ns, 0.03 * hidden.one_way_ns);
  ASSERT_EQ(found.children.size(), hidden.children.size());
  for (std::size_t i = 0; i < found.children.size(); ++i) {
    EXPECT_NEAR(found.children[i].one_way_ns, hidden.children[i].one_way_ns,
                0.05 * hidden.children[i].one_way_ns);
  }
}

LinePairs exact_pairs(const Cluster& machine) {
  LinePairs pairs;
  pairs.pus = machine.cpus.cpus();
  for (const int a : pairs.pus) {
    for (const int b : pairs.pus) {
      pairs.one_way_ns.push_back(a == b ? 0 : true_latency(machine, a, b));
    }
  }
  return pairs;
}

TEST(Infer, ReadsMediansOfAMachineFile) {
  for (const Kind& kind : kinds()) {
    Random random(2);
    const Cluster hidden = shuffled(kind.make(exactly(1.3)), random);
    EXPECT_EQ(shape(infer_levels(exact_pairs(hidden))), shape(hidden)) << kind.name;
  }
}

TEST(Infer, HandlesMachinesWithoutPairs) {
  EXPECT_EQ(infer_levels(std::vector<PairSamples>()), Cluster());
  const Cluster one = infer_levels(LinePairs{{5}, {0}, "every pair"});
  EXPECT_EQ(shape(one), "(5)");
  EXPECT_EQ(depth(one), 0);
  EXPECT_TRUE(as_levels(one).empty());
}

TEST(Infer, KeepsTheNumbersOfCores) {
  const Cluster found = infer_levels(LinePairs{{0, 2, 40}, {0, 9, 80, 9, 0, 80, 80, 80, 0}, ""});
  EXPECT_EQ(shape(found), "(0,2,40: (0,2))");
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Infer, ErrorsNameTheInvalidInput) {
  const std::vector<PairSamples> gap = {{0, 3, {50}}, {3, 7, {50}}};
  EXPECT_EQ(
      error_of([&] { infer_levels(gap); }),
      "the latencies between cores 0 and 7 are missing; levels require every pair to be measured");
  const std::vector<PairSamples> empty = {{0, 3, {}}};
  EXPECT_THAT(error_of([&] { infer_levels(empty); }), testing::HasSubstr("cores 0 and 3"));
  const std::vector<PairSamples> negative = {{0, 3, {50, -1}}};
  EXPECT_EQ(error_of([&] { infer_levels(negative); }),
            "the latency between cores 0 and 3 is -1, which is impossible");
  const std::vector<PairSamples> itself = {{4, 4, {50}}};
  EXPECT_EQ(error_of([&] { infer_levels(itself); }), "core 4 is paired with itself");
  EXPECT_EQ(error_of([&] {
              infer_levels(LinePairs{{0, 1}, {0, 5, 5}, ""});
            }),
            "2 cores require 4 latencies, but there are 3");
  EXPECT_THAT(error_of([&] {
                infer_levels(LinePairs{{0, 1}, {0, NAN, 5, 0}, ""});
              }),
              testing::HasSubstr("cores 0 and 1"));
}

TEST(Infer, IsQuickOnManyCores) {
  Random random(3);
  const Hidden socket = around(std::vector<Hidden>(16, cores(8, 20)), exactly(2));
  const LinePairs pairs = exact_pairs(shuffled(around({socket, socket}, exactly(2)), random));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(depth(infer_levels(pairs)), 3);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 10) << "256 cores take 10 ms; sanitizers and busy machines far more";
}

TEST(Levels, AreNamedFromTheInnermostAndNested) {
  const Cluster machine = in_order(two_sockets(exactly(2)));
  EXPECT_EQ(depth(machine), 4);
  Topology topology;
  topology.pus = machine.cpus;
  topology.levels = as_levels(machine);
  ASSERT_EQ(topology.levels.size(), 3U);
  EXPECT_EQ(topology.levels[0].name, "inferred1");
  EXPECT_EQ(topology.levels[0].groups.size(), 16U);
  EXPECT_EQ(topology.levels[1].groups.size(), 8U);
  EXPECT_EQ(topology.levels[2].groups[1].text(), "64-127");
  EXPECT_NO_THROW(validate(topology));
}

// A socket with a single die is at the level of dies, not at that of sockets.
TEST(Levels, OfUnevenTreesAreNested) {
  Random random(4);
  const Cluster machine = shuffled(uneven(exactly(2)), random);
  Topology topology;
  topology.pus = machine.cpus;
  topology.levels = as_levels(machine);
  ASSERT_EQ(topology.levels.size(), 2U);
  EXPECT_EQ(topology.levels[0].groups.size(), 8U);
  EXPECT_EQ(topology.levels[1].groups.size(), 2U);
  EXPECT_NO_THROW(validate(topology));
}

}  // namespace
}  // namespace huddle::machine

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Guarantees of all methods, and the quality of `tree`.
#include "placement/mapping/method.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "common/error.h"
#include "scene.h"

namespace huddle::mapping::test {
namespace {

constexpr std::array quick_methods = {Method::order,  Method::compact, Method::scatter,
                                      Method::random, Method::lh,      Method::tree};

std::vector<std::filesystem::path> recorded_machines() {
  std::vector<std::filesystem::path> files;
  for (const auto& file :
       std::filesystem::directory_iterator(HUDDLE_SOURCE_DIR "/tests/model/machine/topologies")) {
    if (file.path().extension() == ".xml") files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Returns the minimum cost over all permutations.
double least_cost(Scene& scene) {
  Mapping mapping(static_cast<std::size_t>(scene.problem().elements()));
  std::iota(mapping.begin(), mapping.end(), 0);
  double least = scene.cost(mapping);
  while (std::next_permutation(mapping.begin(), mapping.end())) {
    least = std::min(least, scene.cost(mapping));
  }
  return least;
}

TEST(Methods, AreOneToOneAndRespectFixedElementsOnAllRecordedMachines) {
  for (const auto& file : recorded_machines()) {
    const machine::Topology topology = machine::discover_from_xml(file).topology;
    const int slots = topology.pus.count();
    for (const int elements : {1, slots / 2 + 1, slots}) {
      if (elements < 1) continue;
      Scene scene(with_distances(topology),
                  elements < 2 ? GraphBuilder(1).finish() : graph_of(Pattern::random, elements, 5));
      scene.fix(elements / 3, 11);
      const double start = scene.cost(scene.problem().present);
      for (const Method method : quick_methods) {
        const MappingResult mapped = map_by(scene.problem(), {method, false});
        ASSERT_EQ(flaw_of(scene.problem(), mapped.mapping), "")
            << file << " " << method_names[static_cast<std::size_t>(method)] << " " << elements;
        if (method == Method::tree) {
          ASSERT_LE(scene.cost(mapped.mapping), start);
        }
        ASSERT_EQ(map_by(scene.problem(), {method, false}).mapping, mapped.mapping)
            << "the same again";
      }
    }
  }
}

TEST(Exact, EqualsBestOfAllPermutations) {
  for (const char* machine : {"pack:2 core:3 pu:1", "pack:3 core:2 pu:1", "pack:1 core:6 pu:1"}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Scene scene(synthetic(machine), dense_random(6, seed));
      const Mapping best = exact(scene.problem(), scene.problem().present);
      ASSERT_EQ(flaw_of(scene.problem(), best), "");
      ASSERT_NEAR(scene.cost(best), least_cost(scene), 1e-6) << machine << " " << seed;
    }
  }
}

TEST(Exact, CountsPlacementsWithoutIdenticalOnes) {
  const auto count = [](const char* machine, int elements) {
    Scene scene(synthetic(machine), dense_random(elements, 1));
    return count_placements(scene.problem(), 10'000);
  };
  EXPECT_EQ(count("pack:2 l3:2 core:2 pu:1", 8), 315);  // 8! / 2^7
  EXPECT_EQ(count("pack:2 core:3 pu:1", 6), 10);        // 6! / (3! 3! 2)
  EXPECT_EQ(count("core:5 pu:1", 5), 1);
  EXPECT_EQ(count("pack:2 core:2 pu:1", 2), 2);  // together or apart
  EXPECT_EQ(count("pack:4 core:8 pu:1", 32), std::nullopt);
}

TEST(Exact, RejectsProblemsThatTakeTooLong) {
  Scene scene(synthetic("pack:4 core:8 pu:1"), dense_random(32, 1));
  EXPECT_THROW(map_by(scene.problem(), {Method::exact, false}), UsageError);
}

TEST(Tree, IsOptimalForEightElements) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Scene scene(synthetic("pack:2 l3:2 core:2 pu:1"), dense_random(8, seed));
    const double best = scene.cost(exact(scene.problem(), scene.problem().present));
    EXPECT_NEAR(scene.cost(tree_mapping(scene.problem()).mapping), best, 1e-9 * best) << seed;
  }
}

// The part of tree that is used for larger problems, which does not try all placements.
TEST(Tree, PartitionAndRefineAreNearlyOptimal) {
  int optimal = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Scene scene(synthetic("pack:2 l3:2 core:2 pu:1"), dense_random(8, seed));
    const double best = scene.cost(exact(scene.problem(), scene.problem().present));
    const double found = scene.cost(refine(scene.problem(), partition(scene.problem(), {2, 1})));
    EXPECT_LE(found, 1.06 * best) << seed;
    if (found <= best * (1 + 1e-9)) ++optimal;
  }
  EXPECT_GE(optimal, 150);
}

TEST(Tree, FindsShuffledPairsAndRings) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const Pattern pattern : {Pattern::pairs, Pattern::ring}) {
      const Graph plain = graph_of(pattern, 16, 1);
      Scene in_line(synthetic("pack:2 core:8 pu:1"), plain);
      const double best = in_line.cost(in_line.problem().present);
      Scene scene(synthetic("pack:2 core:8 pu:1"), shuffled(plain, seed));
      EXPECT_DOUBLE_EQ(scene.cost(tree_mapping(scene.problem()).mapping), best) << seed;
    }
  }
}

// Graphs without structure have many cuts of similar quality.
TEST(Tree, CostHardlyDependsOnNumbering) {
  for (std::size_t p = 0; p < pattern_names.size(); ++p) {
    const auto pattern = static_cast<Pattern>(p);
    const bool has_structure = pattern != Pattern::power_law && pattern != Pattern::random;
    const Graph plain = graph_of(pattern, 128, 3);
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      Scene scene(synthetic("pack:2 l3:4 core:4 pu:1"), shuffled(plain, seed), 4);
      const double cost = scene.cost(tree_mapping(scene.problem()).mapping);
      least = std::min(least, cost);
      most = std::max(most, cost);
    }
    EXPECT_LT(most, (has_structure ? 1.01 : 1.08) * least) << pattern_names[p];
  }
}

TEST(Tree, IsNeverWorseThanStartOrLh) {
  for (std::size_t p = 0; p < pattern_names.size(); ++p) {
    for (const int size : {8, 60, 200}) {
      Scene scene(synthetic("pack:2 l3:4 core:4 pu:1"), graph_of(static_cast<Pattern>(p), size, 3),
                  (size + 31) / 32);
      const double cost = scene.cost(tree_mapping(scene.problem()).mapping);
      EXPECT_LE(cost, scene.cost(scene.problem().present) * (1 + 1e-12))
          << pattern_names[p] << size;
      EXPECT_LE(cost, scene.cost(lh(scene.problem())) * (1 + 1e-12)) << pattern_names[p] << size;
    }
  }
}

TEST(Tree, KeepsPlacementWithoutCommunication) {
  Scene scene(synthetic("pack:2 core:4 pu:1"), GraphBuilder(8).finish());
  EXPECT_EQ(tree_mapping(scene.problem()).mapping, scene.problem().present);
}

// Exchanging the two sockets has the same cost, and must not move all elements.
TEST(Tree, MovesFewElements) {
  GraphBuilder builder(16);
  for (int a = 0; a < 16; ++a) {
    for (int b = a + 1; b < 16; ++b) {
      if (a / 8 == b / 8) builder.add({a, b, 100});
    }
  }
  Scene scene(synthetic("pack:2 core:8 pu:1"), builder.finish());
  std::vector<int>& present = scene.problem().present;
  std::iota(present.rbegin(), present.rend(), 0);
  std::swap(present[0], present[12]);
  const Mapping mapping = tree_mapping(scene.problem()).mapping;
  EXPECT_EQ(quality_of(scene.problem(), mapping).moved, 2);
}

TEST(Tree, SortingWithinObjectsKeepsCost) {
  Scene scene(synthetic("pack:2 l3:2 core:4 pu:1"), graph_of(Pattern::random, 14, 2));
  scene.fix(2, 5);
  const Mapping mapping = tree_mapping(scene.problem()).mapping;
  const Mapping ordered = in_order_within(scene.problem(), mapping);
  EXPECT_EQ(flaw_of(scene.problem(), ordered), "");
  EXPECT_DOUBLE_EQ(scene.cost(ordered), scene.cost(mapping));
  const std::vector<int> occupant = occupants(scene.problem(), ordered);
  for (int slot = 0; slot < 16; ++slot) {
    for (int before = slot - slot % 4; before < slot; ++before) {
      const int one = occupant[static_cast<std::size_t>(before)];
      const int other = occupant[static_cast<std::size_t>(slot)];
      if (one >= 2 && other >= 2) {
        EXPECT_LT(one, other);
      }
    }
  }
}

TEST(Lh, ChoosesCheaperOfFillingAndSpreading) {
  Scene scene(synthetic("pack:4 core:4 pu:1"), graph_of(Pattern::ring, 4, 1));
  const Mapping ours = lh(scene.problem());
  EXPECT_EQ(scene.cost(ours), 4 * 4096 * 10) << "all on one socket";
  const Mapping printed = lh(scene.problem(), Spread::evenly);
  EXPECT_EQ(scene.cost(printed), 4 * 4096 * 30) << "each on a socket of its own";
}

TEST(Lh, TiesGoToLowestNumber) {
  // 0 communicates equally with 2 and 3: 2 is chosen.
  GraphBuilder builder(4);
  builder.add({0, 2, 10});
  builder.add({0, 3, 10});
  Scene scene(synthetic("pack:2 core:2 pu:1"), builder.finish());
  EXPECT_THAT(lh(scene.problem()), testing::ElementsAre(0, 2, 1, 3));
}

TEST(Lh, GroupsFitObjectsOfDifferentSizes) {
  const machine::Topology topology =
      machine::discover_from_xml(HUDDLE_SOURCE_DIR
                                 "/tests/model/machine/topologies/uneven-8-and-6.xml")
          .topology;
  Scene scene(with_distances(topology), dense_random(topology.pus.count(), 4));
  EXPECT_EQ(flaw_of(scene.problem(), lh(scene.problem())), "");
}

TEST(Methods, UnknownNameSuggestsSimilarName) {
  EXPECT_EQ(method_named("lh"), Method::lh);
  EXPECT_THAT([] { method_named("tre"); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr("did you mean 'tree'?")));
}

// A larger machine and job than in the other tests.
TEST(Tree, FindsRingOfThousandsOnManyNodes) {
  const Graph plain = graph_of(Pattern::ring, 4096, 1);
  Scene in_line(synthetic("pack:2 l3:8 core:8 pu:1"), plain, 32);
  const double best = in_line.cost(in_line.problem().present);
  Scene scene(synthetic("pack:2 l3:8 core:8 pu:1"), shuffled(plain, 2), 32);
  EXPECT_DOUBLE_EQ(scene.cost(tree_mapping(scene.problem()).mapping), best);
}

RC_GTEST_PROP(MethodProperty, EveryPlacementIsValid, ()) {
  const int elements = *rc::gen::inRange(1, 24);
  const auto machine = *rc::gen::element<std::string>(
      "pack:2 l3:2 core:3 pu:2", "core:24 pu:1", "pack:3 core:4 pu:2", "pack:1 l3:6 core:4 pu:1");
  GraphBuilder builder(elements);
  for (int i = 0; i < 2 * elements; ++i) {
    builder.add({*rc::gen::inRange(0, elements), *rc::gen::inRange(0, elements),
                 static_cast<double>(*rc::gen::inRange(0, 1000))});
  }
  Scene scene(synthetic(machine), builder.finish());
  scene.fix(*rc::gen::inRange(0, elements + 1), 3);
  for (const Method method : quick_methods) {
    const Mapping mapping = map_by(scene.problem(), {method, false}).mapping;
    RC_ASSERT(flaw_of(scene.problem(), mapping).empty());
    RC_ASSERT(method != Method::tree || scene.cost(mapping) <= scene.cost(scene.problem().present));
  }
}

}  // namespace
}  // namespace huddle::mapping::test

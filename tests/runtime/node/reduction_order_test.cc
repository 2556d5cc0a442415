// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests the reduction order of a team, which determines the bits of its results: it depends on the
// placement of the ranks, but not on measurements.
#include "runtime/node/reduction_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "model/machine/infer.h"
#include "model/machine/topology.h"

namespace huddle::node {
namespace {

// Returns the first rank of each block.
std::vector<int> starts(const ReductionOrder& reduction_order) {
  std::vector<int> starts;
  for (int block = 0; block < reduction_order.blocks(); ++block) {
    starts.push_back(reduction_order.first(block));
  }
  return starts;
}

std::vector<int> starts_on(const machine::Topology& topology, const std::vector<int>& pus) {
  return starts(ReductionOrder(locality(topology, pus)));
}

TEST(ReductionOrder, FollowsTheMachine) {
  const auto topology = machine::discover_from_synthetic("pack:2 l3:2 core:4 pu:1").topology;
  std::vector<int> pus(16);
  for (int rank = 0; rank < 16; ++rank) pus[static_cast<std::size_t>(rank)] = rank;
  EXPECT_EQ(starts_on(topology, pus), (std::vector<int>{0, 4, 8, 12}));
}

// Generates plausible latencies: hardware threads in a random tree of nested intervals, with
// latencies that grow by 1.5 per level.
machine::LinePairs random_latencies(const machine::Topology& topology, std::minstd_rand& random) {
  machine::LinePairs pairs;
  pairs.pus = topology.pus.cpus();
  const std::size_t count = pairs.pus.size();
  std::vector<std::size_t> widths;
  for (std::size_t width = 1 + random() % 3; width < count; width *= 2 + random() % 3) {
    widths.push_back(width);
  }
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      double one_way_ns = a == b ? 0 : 40;
      for (const std::size_t width : widths) {
        if (a / width != b / width) one_way_ns *= 1.5;
      }
      pairs.one_way_ns.push_back(one_way_ns);
    }
  }
  return pairs;
}

bool is_inside(const machine::CpuSet& inner, const machine::CpuSet& outer) {
  const std::vector<int>& cpus = inner.cpus();
  return std::all_of(cpus.begin(), cpus.end(), [&](int cpu) { return outer.contains(cpu); });
}

// Returns whether every inner group is inside an outer group.
bool nests(const machine::Level& inner, const machine::Level& outer) {
  return std::all_of(inner.groups.begin(), inner.groups.end(), [&](const auto& group) {
    return std::any_of(outer.groups.begin(), outer.groups.end(),
                       [&](const auto& around) { return is_inside(group, around); });
  });
}

// Inserts every inferred level that fits into the topology.
machine::Topology with_measured_levels(machine::Topology topology,
                                       const std::vector<machine::Level>& measured) {
  for (const machine::Level& level : measured) {
    auto& levels = topology.levels;
    for (std::size_t at = 0; at <= levels.size(); ++at) {
      if (at > 0 && !nests(levels[at - 1], level)) break;
      if (at < levels.size() && !nests(level, levels[at])) continue;
      levels.insert(levels.begin() + static_cast<std::ptrdiff_t>(at), level);
      break;
    }
  }
  validate(topology);
  return topology;
}

// The same team gives the same bits, however often the machine is calibrated.
TEST(ReductionOrder, DoesNotDependOnMeasurements) {
  std::minstd_rand random(20261120);
  int with_levels = 0;
  for (const char* machine : {"pack:2 l3:2 core:4 pu:1", "pack:4 core:6 pu:1",
                              "pack:1 core:24 pu:1", "pack:2 numa:2 l3:3 l2:2 core:2 pu:1"}) {
    const auto plain = machine::discover_from_synthetic(machine).topology;
    for (int calibration = 0; calibration < 100; ++calibration) {
      const auto levels =
          machine::as_levels(machine::infer_levels(random_latencies(plain, random)));
      const machine::Topology calibrated = with_measured_levels(plain, levels);
      if (calibrated.levels.size() > plain.levels.size()) ++with_levels;
      std::vector<int> pus = plain.pus.cpus();
      if (random() % 2 == 0) std::shuffle(pus.begin(), pus.end(), random);
      pus.resize(1 + random() % pus.size());
      ASSERT_EQ(starts_on(calibrated, pus), starts_on(plain, pus))
          << machine << ", calibration " << calibration;
    }
  }
  EXPECT_GT(with_levels, 200) << "the test has to try something";
}

// A level that was inferred from latencies does not rename or repeat an equal reported level.
TEST(RankLocality, MeasuredLevelKeepsReportedName) {
  auto topology = machine::discover_from_synthetic("pack:2 core:4 pu:1").topology;
  const machine::Level package = *machine::find_level(topology, "package");
  std::vector<int> pus = topology.pus.cpus();
  const auto before = locality(topology, pus).levels;
  machine::Level same = package;
  same.name = "inferred1";
  same.bytes.clear();
  const auto at = std::find(topology.levels.begin(), topology.levels.end(), package);
  topology.levels.insert(at, same);
  EXPECT_EQ(locality(topology, pus).levels, before);
}

}  // namespace
}  // namespace huddle::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The descriptions of algorithms match the plans that they offer.
#include "runtime/select/algorithm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/machine/machine_file.h"
#include "model/machine/topology.h"

namespace huddle::select {
namespace {

using testing::HasSubstr;

constexpr std::size_t queue_bytes = 1 << 20;
constexpr std::size_t most_planned_bytes = std::size_t{1} << 30;

// Ranks that may read each other's memory, on a machine with measured figures.
struct Here {
  explicit Here(int ranks)
      : machine(machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/epyc-2x64-estimate.toml")),
        model(machine),
        locality(node::locality(machine.topology, pus(ranks))),
        provided(team_resources(locality, model, queue_bytes)),
        costs(model, locality) {}

  std::vector<int> pus(int ranks) const {
    std::vector<int> first = machine::first_pu_of_cores(machine.topology);
    first.resize(static_cast<std::size_t>(ranks));
    return first;
  }
  std::vector<Candidate> plans(const Algorithm& one, const Request& request) const {
    std::vector<Candidate> list;
    one.add(list, costs, provided, request);
    return list;
  }

  machine::Machine machine;
  machine::CostModel model;
  node::RankLocality locality;
  TeamResources provided;
  Costs costs;
};

// Calls check(here, operation, algorithm) for each algorithm of each operation.
template <class Check>
void each(Check check) {
  for (const int ranks : {2, 5, 128}) {
    const Here here(ranks);
    for (const Operation operation : operations) {
      for (const Algorithm& one : algorithms(operation, here.provided)) {
        SCOPED_TRACE(testing::Message()
                     << name(operation) << " by " << one.name << ", " << ranks << " ranks");
        check(here, operation, one);
      }
    }
  }
}

TEST(Algorithm, NameEqualsThatOfItsPlans) {
  each([](const Here& here, Operation operation, const Algorithm& one) {
    for (std::size_t bytes = 8; bytes <= most_planned_bytes; bytes *= 8) {
      for (const Candidate& plan : here.plans(one, {operation, bytes, 8})) {
        EXPECT_EQ(algorithm_name(plan.plan), one.name);
      }
    }
  });
}

TEST(Algorithm, ServesAtLeastOneRequest) {
  each([](const Here& here, Operation operation, const Algorithm& one) {
    EXPECT_FALSE(here.plans(one, {operation, 8, 8}).empty());
  });
}

TEST(Algorithm, WithoutNeedsServesEveryRequest) {
  each([](const Here& here, Operation operation, const Algorithm& one) {
    if (!one.needs.empty()) return;
    for (std::size_t bytes = 1; bytes <= most_planned_bytes; bytes *= 8) {
      EXPECT_FALSE(here.plans(one, {operation, bytes, 1}).empty()) << bytes;
    }
    EXPECT_FALSE(here.plans(one, {operation, most_planned_bytes, most_planned_bytes}).empty());
  });
}

TEST(Algorithm, NeedsContainSizeLimit) {
  const Here here(4);
  const auto serves = [&](const Algorithm& one, Operation operation, std::size_t bytes) {
    return !here.plans(one, {operation, bytes, 1}).empty();
  };
  const auto named = [&](Operation operation, std::string_view name) {
    const auto all = algorithms(operation, here.provided);
    return *std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  };
  const Algorithm little = named(Operation::bcast, "inline");
  EXPECT_EQ(little.needs, "at most 256 bytes");
  EXPECT_TRUE(serves(little, Operation::bcast, 256));
  EXPECT_FALSE(serves(little, Operation::bcast, 257));
  const Algorithm slots = named(Operation::alltoall, "slots");
  EXPECT_THAT(slots.needs, HasSubstr("at most 256K for all blocks of a rank"));
  EXPECT_TRUE(serves(slots, Operation::alltoall, 64 * 1024));
  EXPECT_FALSE(serves(slots, Operation::alltoall, 64 * 1024 + 1));
}

TEST(Algorithm, NeedsContainElementSizeLimit) {
  each([](const Here& here, Operation operation, const Algorithm& one) {
    const bool takes_any =
        !here.plans(one, {operation, most_planned_bytes, most_planned_bytes}).empty();
    EXPECT_NE(takes_any, one.needs.find("elements that fit") != std::string::npos ||
                             one.needs.find("at most") != std::string::npos);
  });
}

TEST(Algorithm, NeedsContainAccessToPeers) {
  each([](Here here, Operation operation, const Algorithm& one) {
    here.provided.refuse_paths("a container");
    const bool reaches = one.needs.find("each other's memory") != std::string::npos;
    EXPECT_EQ(here.plans(one, {operation, 8, 8}).empty(), reaches);
  });
}

// An algorithm that serves only the regular form requires equal blocks.
TEST(Algorithm, NeedsContainEqualBlocks) {
  const Here here(4);
  for (const Operation operation : operations) {
    if (regular_form(operation) == operation) continue;
    const auto of_any_blocks = algorithms(operation, here.provided);
    for (const Algorithm& one : algorithms(regular_form(operation), here.provided)) {
      const bool serves_both =
          std::any_of(of_any_blocks.begin(), of_any_blocks.end(),
                      [&](const Algorithm& other) { return other.name == one.name; });
      EXPECT_NE(serves_both, one.needs.find("equal blocks") != std::string::npos)
          << name(operation) << " by " << one.name;
    }
  }
}

}  // namespace
}  // namespace huddle::select

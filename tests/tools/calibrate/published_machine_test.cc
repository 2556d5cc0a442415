// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/published_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/arithmetic.h"
#include "common/error.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"

namespace huddle::calibrate {
namespace {

using machine::Machine;
using machine::Origin;
using testing::ElementsAre;
using testing::HasSubstr;

// A machine whose hardware threads are numbered like Linux does: first one of every core, then the
// siblings.
struct Shape {
  int sockets = 1;
  int parts = 1;  // per socket
  int cores = 4;  // per part
  int threads = 1;
  double sibling_ns = 8;
  double part_ns = 20;
  double socket_ns = 60;
  double machine_ns = 150;

  int all_cores() const { return sockets * parts * cores; }
  double ns(int a, int b) const {
    const int one = a % all_cores();
    const int other = b % all_cores();
    if (one == other) return sibling_ns;
    if (one / cores == other / cores) return part_ns;
    return one / (cores * parts) == other / (cores * parts) ? socket_ns : machine_ns;
  }
};

// Latencies of different pairs differ a little, as on real machines.
LatencyMatrix matrix_of(const Shape& shape) {
  const auto pus = at(shape.all_cores()) * at(shape.threads);
  LatencyMatrix matrix(pus);
  for (std::size_t a = 0; a < pus; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double off = 1 + 0.005 * static_cast<double>((a * 7 + b * 3) % 5);
      matrix.set(a, b, off * shape.ns(static_cast<int>(a), static_cast<int>(b)));
    }
  }
  return matrix;
}

std::vector<std::string> names_of(const Machine& machine) {
  std::vector<std::string> names;
  for (const machine::Level& level : machine.topology.levels) names.push_back(level.name);
  return names;
}

std::vector<std::string> groups_of(const Machine& machine, const std::string& level) {
  std::vector<std::string> texts;
  const machine::Level* found = machine::find_level(machine.topology, level);
  if (found == nullptr) return texts;
  for (const machine::CpuSet& group : found->groups) texts.push_back(group.text());
  return texts;
}

const machine::LineCost& line_of(const Machine& machine, const std::string& level) {
  return *std::find_if(machine.line.begin(), machine.line.end(),
                       [&](const machine::LineCost& cost) { return cost.level == level; });
}

PublishedFacts facts() { return {"test", "somebody's table"}; }

TEST(PublishedMachine, RecognizesSiblingsDiesAndSockets) {
  const Shape shape{.sockets = 2, .parts = 2, .cores = 4, .threads = 2};
  const Machine machine = published_machine(matrix_of(shape), facts()).machine;
  EXPECT_THAT(names_of(machine), ElementsAre("core", "l3", "numa", "package"));
  EXPECT_EQ(groups_of(machine, "core").size(), 16U);
  EXPECT_EQ(groups_of(machine, "core").front(), "0,16");
  EXPECT_THAT(groups_of(machine, "l3"),
              ElementsAre("0-3,16-19", "4-7,20-23", "8-11,24-27", "12-15,28-31"));
  EXPECT_THAT(groups_of(machine, "package"), ElementsAre("0-7,16-23", "8-15,24-31"));
  EXPECT_EQ(machine.topology.numa.size(), 2U);
}

TEST(PublishedMachine, TakesTwoGroupsOfUnknownProcessorsAsSockets) {
  const Shape shape{.sockets = 2, .cores = 6};
  const PublishedMachine published = published_machine(matrix_of(shape), facts());
  EXPECT_THAT(groups_of(published.machine, "package"), ElementsAre("0-5", "6-11"));
  EXPECT_THAT(groups_of(published.machine, "l3"), ElementsAre("0-5", "6-11"));
  ASSERT_EQ(published.notes.size(), 1U);
  EXPECT_THAT(published.notes.front(), HasSubstr("--sockets"));
}

TEST(PublishedMachine, TakesSmallGroupsAsDiesIfTheFamilyHasThem) {
  const Shape shape{.parts = 2, .cores = 8, .socket_ns = 100};
  PublishedFacts of_zen = facts();
  of_zen.cpu_model = "AMD EPYC 7R13";
  const Machine machine = published_machine(matrix_of(shape), of_zen).machine;
  EXPECT_THAT(names_of(machine), ElementsAre("core", "l1", "l2", "l3", "package"));
  EXPECT_THAT(groups_of(machine, "l3"), ElementsAre("0-7", "8-15"));
  EXPECT_THAT(groups_of(machine, "package"), ElementsAre("0-15"));
  EXPECT_EQ(machine::find_level(machine.topology, "l3")->bytes.front(), 32U << 20U);
}

TEST(PublishedMachine, TakesPartsOfSocketWithOneL3AsNumaNodes) {
  const Shape shape{.sockets = 2, .parts = 2, .cores = 4, .part_ns = 45, .socket_ns = 70};
  PublishedFacts of_skylake = facts();
  of_skylake.cpu_model = "Intel Xeon Gold 6242";
  const Machine machine = published_machine(matrix_of(shape), of_skylake).machine;
  EXPECT_THAT(names_of(machine), ElementsAre("core", "l1", "l2", "l3", "numa", "package"));
  EXPECT_EQ(machine.topology.numa.size(), 4U);
}

TEST(PublishedMachine, TakesGroupsThatLeaveOutCoresAsNoNumaNodes) {
  const Shape shape{.sockets = 2, .parts = 3, .cores = 4};
  LatencyMatrix matrix = matrix_of(shape);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 4; b < 8; ++b) matrix.set(a, b, 40);  // two parts of three are nearer
  }
  const Machine machine = published_machine(matrix, facts()).machine;
  EXPECT_THAT(names_of(machine), ElementsAre("core", "l3", "group1", "numa", "package"));
  EXPECT_THAT(groups_of(machine, "group1"), ElementsAre("0-7"));
  EXPECT_EQ(machine.topology.numa.size(), 2U);
}

// The parts of the second socket exchange lines through the first.
TEST(PublishedMachine, AssumesSocketWhosePartsSeemFarApart) {
  const Shape shape{.sockets = 2, .parts = 2, .cores = 4};
  LatencyMatrix matrix = matrix_of(shape);
  for (std::size_t a = 8; a < 12; ++a) {
    for (std::size_t b = 12; b < 16; ++b) matrix.set(a, b, shape.machine_ns);
  }
  const PublishedMachine published = published_machine(matrix, facts());
  EXPECT_THAT(groups_of(published.machine, "package"), ElementsAre("0-7", "8-15"));
  EXPECT_NEAR(line_of(published.machine, "numa").shared_ns, shape.socket_ns,
              0.02 * shape.socket_ns);
  ASSERT_EQ(published.notes.size(), 1U);
  EXPECT_THAT(published.notes.front(), HasSubstr("show only 1 of 2 groups of 8 cores"));
}

TEST(PublishedMachine, UsesTheGivenNumberOfSockets) {
  const Shape shape{.sockets = 2, .cores = 6};
  PublishedFacts one_socket = facts();
  one_socket.sockets = 1;
  const PublishedMachine published = published_machine(matrix_of(shape), one_socket);
  EXPECT_THAT(groups_of(published.machine, "package"), ElementsAre("0-11"));
  EXPECT_THAT(groups_of(published.machine, "l3"), ElementsAre("0-5", "6-11"));
  EXPECT_TRUE(published.notes.empty());
}

TEST(PublishedMachine, RefusesNumberOfSocketsThatLatenciesContradict) {
  PublishedFacts three = facts();
  three.sockets = 3;
  const LatencyMatrix matrix = matrix_of({.sockets = 2, .cores = 6});
  try {
    (void)published_machine(matrix, three);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "the latencies show no 3 sockets: their levels have 2 groups");
  }
}

TEST(PublishedMachine, WithoutGroupsIsOneSocket) {
  const Machine machine = published_machine(matrix_of({.cores = 8}), facts()).machine;
  EXPECT_THAT(names_of(machine), ElementsAre("core", "l3", "package"));
  EXPECT_THAT(groups_of(machine, "l3"), ElementsAre("0-7"));
}

TEST(PublishedMachine, MarksOnlyTheGivenLatenciesAsPublished) {
  const Shape shape{.sockets = 2, .parts = 2, .cores = 4, .threads = 2};
  const Machine machine = published_machine(matrix_of(shape), facts()).machine;
  const machine::LineCost& line = line_of(machine, "machine");
  EXPECT_NEAR(line.shared_ns, shape.machine_ns, 0.02 * shape.machine_ns);
  EXPECT_NEAR(line.one_way_ns, shape.machine_ns / 0.6, 0.02 * shape.machine_ns / 0.6);
  EXPECT_EQ(line.shared_origin, Origin::published);
  EXPECT_EQ(line.origin, Origin::estimated);
  EXPECT_EQ(line.steps_origin, Origin::estimated);
  EXPECT_FALSE(machine::calibrated(machine));
  for (const machine::CopyCurve& copy : machine.copy) EXPECT_EQ(copy.origin, Origin::estimated);
  EXPECT_THAT(machine.provenance.sources, ElementsAre("somebody's table"));
  EXPECT_EQ(machine::parse_machine(machine::format_machine(machine), "test"), machine);
}

TEST(PublishedMachine, TakesLatenciesOfSeparateLinesAsTheyAre) {
  PublishedFacts separate = facts();
  separate.line = PublishedLine::separate;
  const Shape shape{.sockets = 2, .cores = 4, .part_ns = 45};
  const Machine machine = published_machine(matrix_of(shape), separate).machine;
  EXPECT_NEAR(line_of(machine, "machine").one_way_ns, shape.machine_ns, 0.02 * shape.machine_ns);
  EXPECT_EQ(line_of(machine, "machine").origin, Origin::published);
  EXPECT_EQ(line_of(machine, "machine").shared_origin, Origin::estimated);
}

TEST(PublishedMachine, KeepsOnePairPerCore) {
  const Shape shape{.sockets = 2, .cores = 4, .threads = 2};
  const Machine machine = published_machine(matrix_of(shape), facts()).machine;
  ASSERT_TRUE(machine.pairs);
  EXPECT_EQ(machine.pairs->pus.size(), 8U);
  PublishedFacts of_levels = facts();
  of_levels.only_levels = true;
  EXPECT_FALSE(published_machine(matrix_of(shape), of_levels).machine.pairs);
}

// The similar machine has the same levels, other ratios, and a copy curve of its own.
TEST(PublishedMachine, EstimatesOtherFiguresFromSimilarMachine) {
  const Shape shape{.sockets = 2, .cores = 4};
  Machine like = machine::generic_machine(
      machine::discover_from_synthetic("pack:2 l3:1 core:4 pu:1").topology);
  like.name = "similar";
  for (machine::LineCost& cost : like.line) cost.shared_ns = cost.one_way_ns / 2;
  for (machine::CopyCurve& copy : like.copy) {
    copy.origin = Origin::measured;
    for (double& ns : copy.curve.ns) ns *= 3;
  }
  PublishedFacts with_like = facts();
  with_like.like = &like;
  const Machine machine = published_machine(matrix_of(shape), with_like).machine;
  EXPECT_NEAR(line_of(machine, "machine").one_way_ns, 2 * shape.machine_ns,
              0.04 * shape.machine_ns);
  ASSERT_EQ(machine.copy.size(), like.copy.size());
  EXPECT_EQ(machine.copy.front().curve, like.copy.front().curve);
  EXPECT_EQ(machine.copy.front().origin, Origin::estimated);
  EXPECT_THAT(machine.provenance.method, HasSubstr("similar"));
}

}  // namespace
}  // namespace huddle::calibrate

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/reproduce/experiment.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "model/machine/machine_file.h"

namespace huddle::reproduce {
namespace {

using machine::Machine;
using machine::Origin;

const std::string machines = HUDDLE_SOURCE_DIR "/machines/";

Machine dawning() { return machine::read_machine_file(machines + "dawning-5000a.toml"); }

TEST(Redraw, FactorsFillTheirRangeAndAreTheSameEverywhere) {
  Draws draws(1);
  double least = 2;
  double most = 0;
  for (int i = 0; i < 1000; ++i) {
    const double factor = draws.factor();
    least = std::min(least, factor);
    most = std::max(most, factor);
  }
  EXPECT_GE(least, 0.75);
  EXPECT_LT(least, 0.76);
  EXPECT_LE(most, 1.25);
  EXPECT_GT(most, 1.24);
  // The standard defines the engine's 10,000th number for its default seed: 9981545732273789042.
  Draws standard(5489);
  for (int i = 1; i < 10000; ++i) standard.factor();
  EXPECT_DOUBLE_EQ(standard.factor(),
                   0.75 + 0.5 * static_cast<double>(9981545732273789042U >> 11) / 9007199254740992);
}

TEST(Redraw, OneSeedGivesOneMachine) {
  Draws one(7);
  Draws same(7);
  Draws other(8);
  const Machine drawn = redrawn(dawning(), one);
  EXPECT_EQ(drawn, redrawn(dawning(), same));
  EXPECT_NE(drawn, redrawn(dawning(), other));
  EXPECT_NE(drawn, redrawn(dawning(), one)) << "each draw is another";
}

TEST(Redraw, KeepsEverythingThatIsNotEstimated) {
  const Machine machine = dawning();
  Draws draws(1);
  const Machine drawn = redrawn(machine, draws);
  int published = 0;
  for (std::size_t i = 0; i < machine.handoff.size(); ++i) {
    const bool stays = machine.handoff[i].origin != Origin::estimated;
    EXPECT_EQ(drawn.handoff[i] == machine.handoff[i], stays) << i;
    published += stays ? 1 : 0;
  }
  EXPECT_EQ(published, 2);
  EXPECT_EQ(drawn.memory.front(), machine.memory.front());
  EXPECT_EQ(drawn.topology, machine.topology);

  const Machine measured = machine::read_machine_file(machines + "amd-epyc-2c-1b1d3050.toml");
  Machine again = redrawn(measured, draws);
  // Measuring the steps requires three cores, so those of a two-core machine are estimates.
  for (std::size_t i = 0; i < again.line.size(); ++i) {
    again.line[i].reader_step_ns = measured.line[i].reader_step_ns;
    again.line[i].writer_step_ns = measured.line[i].writer_step_ns;
  }
  EXPECT_EQ(again.line, measured.line);
  EXPECT_EQ(again.copy, measured.copy);
  EXPECT_EQ(again.handoff, measured.handoff);
}

TEST(Redraw, CurveKeepsItsShape) {
  const Machine machine = dawning();
  Draws draws(1);
  const Machine drawn = redrawn(machine, draws);
  std::set<double> factors;
  for (std::size_t i = 0; i < machine.copy.size(); ++i) {
    const auto& before = machine.copy[i].curve;
    const auto& after = drawn.copy[i].curve;
    const double factor = after.ns.front() / before.ns.front();
    for (std::size_t k = 0; k < before.ns.size(); ++k) {
      EXPECT_DOUBLE_EQ(after.ns[k], before.ns[k] * factor);
    }
    factors.insert(factor);
  }
  EXPECT_EQ(factors.size(), machine.copy.size()) << "each curve has a factor of its own";
}

TEST(Redraw, EveryMachineStaysValid) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(machines)) {
    if (entry.path().extension() != ".toml") continue;
    ++seen;
    const Machine machine = machine::read_machine_file(entry.path().string());
    Draws draws(3);
    for (int i = 0; i < 50; ++i) {
      EXPECT_NO_THROW(machine::validate(redrawn(machine, draws))) << entry.path();
    }
  }
  EXPECT_GT(seen, 10);
}

TEST(Redraw, LinksOfOneHeightAreOneFigure) {
  const auto cluster = fabric::load_cluster(machines + "fabrics/dawning-4000a-ethernet.toml", "");
  Draws draws(1);
  const auto drawn = redrawn(cluster, draws);
  std::set<double> rates;
  for (std::size_t i = 0; i < cluster.fabric.switches.size(); ++i) {
    if (cluster.fabric.switches[i].above < 0) continue;
    rates.insert(drawn.fabric.switches[i].links.gb_per_s);
    EXPECT_NE(drawn.fabric.switches[i].links.gb_per_s, cluster.fabric.switches[i].links.gb_per_s);
  }
  EXPECT_EQ(rates.size(), 1U);
  EXPECT_NE(drawn.network, cluster.network);
  EXPECT_NE(std::find(drawn.machine.networks.begin(), drawn.machine.networks.end(), drawn.network),
            drawn.machine.networks.end());
}

}  // namespace
}  // namespace huddle::reproduce

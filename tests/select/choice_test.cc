// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Choices on every machine that we have a file of, from two ranks to one a core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "machine/machine_file.h"
#include "select/barrier.h"
#include "select/bcast.h"
#include "select/candidate.h"
#include "select/explain.h"
#include "select/reduce.h"
#include "select/size_class.h"

namespace huddle::select {
namespace {

constexpr std::size_t queue_bytes = 1 << 20;

std::vector<machine::Machine> all_machines() {
  std::vector<machine::Machine> machines;
  for (const auto& file : std::filesystem::directory_iterator(HUDDLE_SOURCE_DIR "/machines")) {
    if (file.path().extension() != ".toml") continue;
    machines.push_back(machine::read_machine_file(file.path().string()));
  }
  return machines;
}

node::Seats seats_on(const machine::Machine& machine, int ranks) {
  std::vector<int> pus = machine::first_pu_of_cores(machine.topology);
  pus.resize(static_cast<std::size_t>(ranks));
  return node::seats(machine.topology, pus);
}

// Calls check(machine, seats, model, provision) for some numbers of ranks on each machine.
template <class Check>
void everywhere(Check check) {
  const auto machines = all_machines();
  ASSERT_FALSE(machines.empty());
  for (const auto& machine : machines) {
    const machine::CostModel model(machine);
    for (int ranks = 2; ranks <= machine::core_count(machine.topology); ranks = 2 * ranks + 1) {
      SCOPED_TRACE(machine.name + " with " + std::to_string(ranks) + " ranks");
      const node::Seats seats = seats_on(machine, ranks);
      check(seats, model, provision(seats, model, queue_bytes));
    }
  }
}

TEST(Choice, ThereIsOneForEveryRequest) {
  everywhere([](const auto& seats, const auto& model, const auto& provision) {
    for (const Operation operation : operations) {
      for (std::size_t bytes = 1; bytes <= (std::size_t{1} << 30); bytes *= 64) {
        const auto list = candidates({operation, bytes, 1}, seats, model, provision);
        ASSERT_FALSE(list.empty()) << name(operation);
        for (const auto& candidate : list) {
          ASSERT_TRUE(std::isfinite(candidate.ns) && candidate.ns > 0)
              << algorithm_name(candidate.plan) << " " << candidate.parameters;
        }
      }
    }
  });
}

// More data is never predicted to take less time.
TEST(Choice, CostsRiseWithTheSize) {
  everywhere([](const auto& seats, const auto& model, const auto& provision) {
    for (const Operation operation : {Operation::bcast, Operation::reduce, Operation::allreduce}) {
      double before = 0;
      for (std::size_t bytes = 8; bytes <= (std::size_t{1} << 26); bytes *= 8) {
        const auto list = candidates({operation, bytes, 8}, seats, model, provision);
        const double now = cheapest(list).ns;
        EXPECT_GE(now, before * 0.999) << name(operation) << " of " << bytes;
        before = now;
      }
    }
  });
}

// Small messages ride in a line, large ones go through queues: on every machine.
TEST(Choice, LittleIsInlineAndMuchIsNot) {
  everywhere([](const auto& seats, const auto& model, const auto& provision) {
    const auto chosen = [&](std::size_t bytes) {
      return algorithm_name(
          cheapest(candidates({Operation::bcast, bytes, 1}, seats, model, provision)).plan);
    };
    EXPECT_EQ(chosen(8), "inline");
    EXPECT_NE(chosen(std::size_t{1} << 22), "inline");
  });
}

// What a rank gives does not grow faster than the number of ranks, whatever the machine.
TEST(Choice, MemoryIsBounded) {
  everywhere([](const node::Seats& seats, const auto&, const Provision& provision) {
    const node::PipelinedBcast bcast(provision.pipelined_bcast, seats, 0, 0);
    const node::Association association(seats);
    const node::SlicedReduce slices(provision.sliced_reduce, association, seats.ranks(), 0);
    const node::TreeReduce blocks(provision.tree_reduce, association, 0);
    const node::ExchangeAllreduce exchange(provision.exchange, association, 0);
    const std::size_t flags = static_cast<std::size_t>(seats.ranks()) * 1024 + (1 << 16);
    EXPECT_LE(bcast.shared_bytes(), queue_bytes + flags);
    EXPECT_LE(slices.shared_bytes(), 2 * queue_bytes + flags);
    EXPECT_LE(blocks.shared_bytes(), 2 * queue_bytes + flags);
    EXPECT_LE(exchange.shared_bytes(), queue_bytes + flags);
  });
}

// The multicore paper's finding, out of prices alone: on a machine of several sockets a barrier
// over its levels beats a flat one.
TEST(Choice, LevelsBeatAFlatBarrierAcrossSockets) {
  const auto machine = machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/dawning-5000a.toml");
  const machine::CostModel model(machine);
  const node::Seats seats = seats_on(machine, machine::core_count(machine.topology));
  const Prices prices(model, seats);
  const auto ns = [&](node::Shape::Kind kind) {
    return tree_barrier_ns(prices, node::tree({kind, 1}, seats, 0), {});
  };
  EXPECT_LT(ns(node::Shape::Kind::levels), ns(node::Shape::Kind::flat));
}

// Where ranks share a processor every wait costs a turn: one round beats several.
TEST(Choice, FewWaitsWhereRanksOutnumberCores) {
  const auto machine =
      machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/amd-epyc-2c-1b1d3050.toml");
  const machine::CostModel model(machine);
  const node::Seats seats = node::seats(machine.topology, {0, 1, 0, 1, 0, 1, 0, 1});
  const auto list =
      candidates({Operation::barrier, 0, 1}, seats, model, provision(seats, model, queue_bytes));
  const auto* plan = std::get_if<DisseminationPlan>(&cheapest(list).plan);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->parameters.radix, 8);
}

TEST(Choice, IsExplained) {
  const auto machine = machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/dawning-5000a.toml");
  const machine::CostModel model(machine);
  const node::Seats seats = seats_on(machine, 4);
  const Provision given = provision(seats, model, queue_bytes);
  const Explanation explanation{{Operation::bcast, 65536, 1},
                                4,
                                calibrated(machine),
                                candidates({Operation::bcast, 65536, 1}, seats, model, given)};
  const std::string text = explanation_text(explanation);
  EXPECT_THAT(text, testing::HasSubstr("64K"));
  EXPECT_THAT(
      text, testing::HasSubstr(std::string(algorithm_name(cheapest(explanation.candidates).plan))));
}

}  // namespace
}  // namespace huddle::select

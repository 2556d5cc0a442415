// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/predict.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::mpi {
namespace {

using select::Operation;

class PredictedCalls : public ::testing::Test {
 protected:
  std::optional<double> ns(Operation operation, std::size_t bytes) const {
    return prediction.ns(operation, bytes, members);
  }

  static team::CpuBinding binding_to(int cpu) {
    team::CpuBinding binding{};
    CPU_SET(static_cast<std::size_t>(cpu), &binding.allowed);
    return binding;
  }

  std::vector<int> members = {0, 1, 2};
  Prediction prediction =
      predict_on(machine::generic_machine(
                     machine::discover_from_synthetic("pack:1 l3:1 core:4 pu:1").topology),
                 {binding_to(0), binding_to(1), binding_to(2)});
};

TEST_F(PredictedCalls, TakeLongerIfTheyMoveMoreData) {
  for (const Operation operation : select::operations) {
    const auto small = ns(operation, 64);
    const auto large = ns(operation, std::size_t{1} << 20);
    ASSERT_TRUE(small && large) << name(operation);
    EXPECT_GT(*small, 0) << name(operation);
    const bool moves_data = operation != Operation::barrier;
    EXPECT_EQ(*large > *small, moves_data) << name(operation);
  }
}

// Programs such as HPCC broadcast zero bytes.
TEST_F(PredictedCalls, HaveNoTimeIfTheyMoveNoData) {
  for (const Operation operation : select::operations)
    EXPECT_EQ(ns(operation, 0).has_value(), operation == Operation::barrier) << name(operation);
}

// A machine file need not contain them.
TEST_F(PredictedCalls, HaveNoTimeWithoutTheFiguresThatTheyNeed) {
  machine::Machine machine =
      machine::generic_machine(machine::discover_from_synthetic("pack:1 core:4 pu:1").topology);
  machine.handoff.clear();
  machine.paths.clear();
  prediction = predict_on(machine, {binding_to(0), binding_to(1), binding_to(2)});
  for (const std::size_t bytes : {std::size_t{1024}, std::size_t{100'000}}) {
    const auto predicted = ns(Operation::bcast, bytes);
    EXPECT_TRUE(!predicted || std::isfinite(*predicted)) << bytes;
  }
}

}  // namespace
}  // namespace huddle::mpi

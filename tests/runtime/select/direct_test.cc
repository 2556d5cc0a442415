// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/algorithm.h"

#include <gtest/gtest.h>

#include "model/machine/locate.h"
#include "model/machine/topology.h"

namespace huddle::select {
namespace {

bool is_of_writing_cached(machine::HandoffKind kind) {
  return kind == machine::HandoffKind::write_cached ||
         kind == machine::HandoffKind::write_interleaved;
}

// Predicts on four cores that need writing_is_slower times as long to write lines that a peer has
// cached.
template <class Predict>
auto on_slow_writers(double writing_is_slower, Predict predict) {
  machine::Machine machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 numa:1 l3:1 core:4 pu:1").topology);
  for (machine::HandoffCurve& handoff : machine.handoff) {
    if (!is_of_writing_cached(handoff.kind)) continue;
    for (double& ns : handoff.curve.ns) ns *= writing_is_slower;
  }
  const machine::CostModel model(machine);
  const node::RankLocality locality =
      node::locality(machine.topology, machine::first_pu_of_cores(machine.topology));
  return predict(Costs(model, locality));
}

double by_others_ns(const Request& request, double writing_is_slower) {
  return on_slow_writers(writing_is_slower, [&](const Costs& costs) {
    return direct_by_others_ns(costs, request, PeerCopy::of_mapped(), {});
  });
}

using Results = node::DirectReduce::Results;

double reduced_ns(Operation operation, double writing_is_slower,
                  Results results = Results::are_read) {
  const Request request{operation, 1 << 20, 4, true};
  return on_slow_writers(writing_is_slower, [&](const Costs& costs) {
    return direct_reduce_ns(costs, request, PeerCopy::of_mapped(), {.results = results});
  });
}

// The root has used the data that it gathered before.
TEST(DirectByOthers, PushedGatherTakesLinesFromTheRoot) {
  const Request gather{Operation::gather, 1 << 20, 1, true};
  EXPECT_GT(by_others_ns(gather, 100), 10 * by_others_ns(gather, 1));
}

// The receivers have sent from the same buffer before.
TEST(DirectByOthers, BcastWithNewRootTakesLinesFromReaders) {
  Request bcast{.operation = Operation::bcast, .bytes = 1 << 20, .mapped = true};
  EXPECT_EQ(by_others_ns(bcast, 100), by_others_ns(bcast, 1));
  bcast.root_moved = true;
  EXPECT_GT(by_others_ns(bcast, 100), 10 * by_others_ns(bcast, 1));
}

TEST(DirectByOthers, ScatterWritesUnsharedLines) {
  const Request scatter{Operation::scatter, 1 << 20, 1, true};
  EXPECT_EQ(by_others_ns(scatter, 100), by_others_ns(scatter, 1));
}

// All ranks have read the previous result, or the root has used it.
TEST(DirectReduction, TakesResultLinesFromReadersOfThePreviousResult) {
  EXPECT_GT(reduced_ns(Operation::allreduce, 100), 10 * reduced_ns(Operation::allreduce, 1));
  EXPECT_GT(reduced_ns(Operation::reduce, 100), 10 * reduced_ns(Operation::reduce, 1));
}

// Written results need no requests, but if writes are slow each rank writes slowly to all others.
TEST(DirectReduction, WritesResultsOnlyIfWritesAreFast) {
  const auto ns = [](double writing_is_slower, Results results) {
    return reduced_ns(Operation::allreduce, writing_is_slower, results);
  };
  EXPECT_LT(ns(0.1, Results::are_written), ns(0.1, Results::are_read));
  EXPECT_GT(ns(100, Results::are_written), 2 * ns(100, Results::are_read));
}

TEST(DirectReduction, ReduceScatterWritesUnsharedLines) {
  EXPECT_EQ(reduced_ns(Operation::reduce_scatter_block, 100),
            reduced_ns(Operation::reduce_scatter_block, 1));
}

// Each rank reads the others' data and its own.
TEST(DirectReduction, TakesLongerThanReadingItsInputs) {
  const Request request{Operation::reduce_scatter_block, 4 << 20, 4, true};
  on_slow_writers(1, [&](const Costs& costs) {
    const double read_ns = 3 * costs.fetch_ns(1 << 20, 3, PeerCopy::of_mapped());
    EXPECT_GT(direct_reduce_ns(costs, request, PeerCopy::of_mapped(), {}),
              read_ns + costs.reduce_ns(1 << 20, 4 << 20, 0));
  });
}

}  // namespace
}  // namespace huddle::select

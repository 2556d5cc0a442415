// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/candidate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "model/machine/topology.h"

namespace huddle::select {
namespace {

class FloorTest : public testing::Test {
 protected:
  double floor_of(Operation operation, std::size_t bytes) const {
    return floor_ns({operation, bytes, reduces(operation) ? sizeof(double) : 1}, locality_, model_);
  }

  const machine::Machine machine_ = machine::generic_machine(
      machine::discover_from_synthetic("pack:2 numa:1 l3:1 core:4 pu:1").topology);
  const machine::CostModel model_{machine_};
  const node::RankLocality locality_ =
      node::locality(machine_.topology, machine::first_pu_of_cores(machine_.topology));
};

TEST_F(FloorTest, BarrierFloorIsTheFarthestLine) {
  EXPECT_EQ(floor_of(Operation::barrier, 0),
            std::min(model_.line_ns(0, 7), model_.shared_line_ns(0, 7)));
}

TEST_F(FloorTest, LargeDataFloorIsReadingThem) {
  const double read_ns = model_.handoff_ns(1 << 22, 0, 1, machine::HandoffKind::read_dirty);
  EXPECT_EQ(floor_of(Operation::bcast, 1 << 22), read_ns);
  EXPECT_GT(read_ns, model_.line_ns(0, 7));
  EXPECT_GT(floor_of(Operation::alltoall, 1 << 22), 6 * read_ns);
  EXPECT_LT(floor_of(Operation::reduce, 1 << 22), read_ns);
}

// The floor uses the kernel that reads the fastest.
TEST_F(FloorTest, UsesInterleavedReadsIfFaster) {
  machine::Machine machine = machine_;
  for (machine::HandoffCurve& handoff : machine.handoff) {
    if (handoff.kind != machine::HandoffKind::read_interleaved) continue;
    for (double& ns : handoff.curve.ns) ns /= 10;
  }
  const machine::CostModel model(machine);
  EXPECT_EQ(floor_ns({Operation::bcast, 1 << 22, 1}, locality_, model),
            model.handoff_ns(1 << 22, 0, 1, machine::HandoffKind::read_interleaved));
}

// No candidate is predicted to be faster than the floor.
TEST_F(FloorTest, IsBelowEveryPrediction) {
  const TeamResources provided = team_resources(locality_, model_, 1 << 20);
  for (const Operation operation : operations) {
    for (std::size_t bytes = 8; bytes <= 1 << 22; bytes *= 8) {
      const Request request{operation, operation == Operation::barrier ? 0 : bytes,
                            reduces(operation) ? sizeof(double) : 1};
      for (const Candidate& candidate : candidates(request, locality_, model_, provided)) {
        EXPECT_LE(floor_of(operation, request.bytes), candidate.ns)
            << name(operation) << " of " << bytes << " by " << algorithm_name(candidate.plan);
      }
    }
  }
}

TEST_F(FloorTest, IsZeroIfAllShareAHardwareThread) {
  const node::RankLocality one_core = node::locality(machine_.topology, {0, 0});
  EXPECT_EQ(floor_ns({Operation::barrier, 0, 1}, one_core, model_), 0);
}

std::vector<Candidate> candidates_on(const std::string& machine_name, int ranks,
                                     const Request& request) {
  const machine::Machine machine =
      machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/" + machine_name + ".toml");
  const machine::CostModel model(machine);
  std::vector<int> pus = first_pu_of_cores(machine.topology);
  pus.resize(static_cast<std::size_t>(ranks));
  const node::RankLocality locality = node::locality(machine.topology, pus);
  EXPECT_GT(memory_ns(request, locality, model), 0);
  return candidates(request, locality, model, team_resources(locality, model, usual_queue_bytes));
}

// 130 MB go into a memory that copies 10.6 GB/s: two of a copy's three streams.
TEST(MemoryFloor, RootMemoryLimitsGather) {
  for (const Candidate& one : candidates_on("songshan", 32, {Operation::gather, 4 << 20, 1})) {
    EXPECT_GE(one.ns, 8e6) << one.parameters;
  }
}
TEST(MemoryFloor, NodeMemoryLimitsReaders) {
  for (const Candidate& one : candidates_on("dawning-5000a", 16, {Operation::bcast, 16 << 20, 1})) {
    EXPECT_GE(one.ns, 17e6) << one.parameters;
  }
}

// Candidates below the floor keep their order.
TEST(MemoryFloor, KeepsTheOrder) {
  const auto all = candidates_on("dawning-5000a", 16, {Operation::bcast, 16 << 20, 1});
  EXPECT_EQ(cheapest(all).parameters, "4 segments of 64K, 4 readers at a time, plain");
}

}  // namespace
}  // namespace huddle::select

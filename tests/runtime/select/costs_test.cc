// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "runtime/select/algorithm.h"
#include "runtime/select/candidate.h"

namespace huddle::select {
namespace {

using machine::Machine;
using memory::CopyKernel;

constexpr double MiB = 1 << 20;

// Four cores below a cache of 32 MiB. A copy through the caches of up to 16 MiB takes 1 ns per 32
// bytes, a larger one 4 ns; non-temporal copies take 2 ns.
Machine four_cores() {
  Machine machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 numa:1 l3(size=32MB):1 core:4 pu:1").topology);
  const machine::Curve through{{MiB, 16 * MiB, 20 * MiB, 80 * MiB},
                               {MiB / 32, 16 * MiB / 32, 20 * MiB / 8, 80 * MiB / 8},
                               {}};
  const machine::Curve past{{MiB, 80 * MiB}, {MiB / 16, 80 * MiB / 16}, {}};
  machine.copy = {{"core", 1, through, machine::Origin::measured},
                  {"l3", 4, through, machine::Origin::measured}};
  machine.copy_past_caches = {{"core", 1, past, machine::Origin::measured},
                              {"l3", 4, past, machine::Origin::measured}};
  return machine;
}

CopyKernel kernel_of_results(const Machine& machine, double all_bytes,
                             const std::vector<int>& pus) {
  const machine::CostModel model(machine);
  const node::RankLocality locality = node::locality(machine.topology, pus);
  return Costs(model, locality).kernel_of_results(static_cast<std::size_t>(all_bytes));
}

TEST(KernelOfResults, IsNontemporalIfCachesAreTooSmall) {
  const Machine machine = four_cores();
  EXPECT_EQ(kernel_of_results(machine, 2 * 4 * 1 * MiB, {0, 1, 2, 3}), CopyKernel::plain);
  EXPECT_EQ(kernel_of_results(machine, 2 * 4 * 16 * MiB, {0, 1, 2, 3}), CopyKernel::plain);
  EXPECT_EQ(kernel_of_results(machine, 2 * 4 * 40 * MiB, {0, 1, 2, 3}), CopyKernel::nontemporal);
}

// With half the hardware threads, each has twice the data.
TEST(KernelOfResults, DependsOnDataPerHardwareThread) {
  const Machine machine = four_cores();
  EXPECT_EQ(kernel_of_results(machine, 2 * 4 * 12 * MiB, {0, 1, 2, 3}), CopyKernel::plain);
  EXPECT_EQ(kernel_of_results(machine, 2 * 4 * 12 * MiB, {0, 0, 1, 1}), CopyKernel::nontemporal);
}

TEST(KernelOfResults, IsPlainWithoutOtherMeasurements) {
  Machine machine = four_cores();
  machine.copy_past_caches.clear();
  EXPECT_EQ(kernel_of_results(machine, 2 * 4 * 40 * MiB, {0, 1, 2, 3}), CopyKernel::plain);
}

// The choice for four ranks that copy through shared memory.
Candidate chosen(Operation operation, std::size_t bytes) {
  const Machine machine = four_cores();
  const machine::CostModel model(machine);
  const node::RankLocality locality = node::locality(machine.topology, {0, 1, 2, 3});
  TeamResources provided = team_resources(locality, model, std::size_t{1} << 20);
  provided.refuse_paths("only what goes through shared memory");
  return cheapest(candidates({operation, bytes, 1}, locality, model, provided));
}

// If no rank knows the total size, each decides by the size of its own output.
TEST(KernelOfResults, DependsOnOwnOutputIfBlocksDiffer) {
  const auto from = [](Operation operation) {
    return std::get<node::PairExchange::Plan>(chosen(operation, 4096).plan).nontemporal_from;
  };
  EXPECT_EQ(from(Operation::alltoallv), std::size_t{32} << 20);
  EXPECT_EQ(from(Operation::scatterv), std::size_t{32} << 20);
  // Only its root has an output.
  EXPECT_EQ(from(Operation::gatherv), std::size_t{128} << 20);
}

// Holds for all operations that move blocks through shared memory.
TEST(KernelOfResults, IsPartOfThePlan) {
  for (const Operation operation : {Operation::alltoall, Operation::allgather, Operation::gather,
                                    Operation::scatter, Operation::allgatherv}) {
    const auto chosen_for = [operation](std::size_t bytes) {
      return chosen(operation, bytes).parameters;
    };
    EXPECT_THAT(chosen_for(std::size_t{64} << 20), testing::HasSubstr("non-temporal stores"));
    EXPECT_THAT(chosen_for(4096), testing::Not(testing::HasSubstr("non-temporal stores")));
  }
}

// Two half copies in addition to the copy of the rank's own block: one to publish its data and one
// to write the data of its peer.
TEST(PairsAlltoall, IsNoFasterThanItsMemory) {
  Machine machine = four_cores();
  for (machine::HandoffCurve& handoff : machine.handoff) {
    for (double& ns : handoff.curve.ns) ns /= 1000;
  }
  const machine::CostModel model(machine);
  const node::RankLocality locality = node::locality(machine.topology, {0, 1});
  const Costs costs(model, locality);
  const Request request{Operation::alltoall, std::size_t{40} << 20, 1};
  const node::PairExchange::Plan plan{1 << 20, node::PairExchange::Order::paired, {}, {}};
  const double moved_ns = costs.move_ns(request.bytes, data_bytes(request, 2), CopyKernel::plain);
  EXPECT_GT(pairs_alltoall_ns(costs, 4, request, plan), 2.4 * moved_ns);
}

// Reads take `longer` times as long as on four_cores(), and writes to lines in the writer's cache
// take nothing.
Machine four_cores_that_read(double longer) {
  Machine machine = four_cores();
  for (machine::HandoffCurve& handoff : machine.handoff) {
    const bool is_at_hand = handoff.kind == machine::HandoffKind::write_ping_pong;
    const bool is_read = handoff.kind == machine::HandoffKind::read_dirty;
    for (double& ns : handoff.curve.ns) ns *= is_at_hand ? 0.001 : is_read ? longer : 1;
  }
  return machine;
}

constexpr std::size_t tile = 1 << 14;

struct Gathered {
  double plain_ns;
  double asking_ns;
  double write_ns;
};
Gathered gathered(std::size_t bytes, double reads_longer) {
  const Machine machine = four_cores_that_read(reads_longer);
  const machine::CostModel model(machine);
  const node::RankLocality locality = node::locality(machine.topology, {0, 1});
  const Costs costs(model, locality);
  const auto ns = [&](memory::CopyMethod method) {
    const node::PairExchange::Plan plan{tile, node::PairExchange::Order::staggered, method, {}};
    return pairs_rooted_ns(costs, 4, {Operation::gather, bytes, 1}, plan);
  };
  return {ns(CopyKernel::plain), ns(memory::by_prefetch),
          costs.write_ns(tile, tile, 0, 1, CopyKernel::plain)};
}

// A rank that prefetched has the lines in its cache when it writes. The prefetch takes as long as
// the write would, but overlaps with reads of other ranks.
TEST(PairsRooted, PrefetchedLinesAreInTheCache) {
  const Gathered slowly_read = gathered(tile, 10);
  EXPECT_LT(slowly_read.asking_ns, slowly_read.plain_ns - 0.8 * slowly_read.write_ns);
  const Gathered quickly_read = gathered(tile, 0.001);
  EXPECT_LT(quickly_read.asking_ns, quickly_read.plain_ns);
  EXPECT_GT(quickly_read.asking_ns, quickly_read.write_ns);
}

// 24 MiB of a root do not fit into the cache, although the average of 16 MiB per rank does.
TEST(PairsRooted, AccountForAllBlocksOfTheRoot) {
  const Machine machine = four_cores();
  const machine::CostModel model(machine);
  const node::RankLocality locality = node::locality(machine.topology, {0, 1});
  const Costs costs(model, locality);
  constexpr std::size_t bytes = 14 << 20;
  for (const Operation operation : {Operation::gather, Operation::scatter}) {
    const Request request{operation, bytes, 1};
    EXPECT_EQ(own_ns(costs, request, CopyKernel::plain),
              costs.own_ns(bytes, 2 * 3 * bytes, CopyKernel::plain));
    EXPECT_GT(own_ns(costs, request, CopyKernel::plain),
              1.5 * costs.own_ns(bytes, 2 * 2 * bytes, CopyKernel::plain));
  }
}

TEST(PairsRooted, DoNotPrefetchIfAllCellsAreFilled) {
  const Gathered much = gathered(4 * tile, 1);
  EXPECT_DOUBLE_EQ(much.asking_ns, much.plain_ns);
}

using machine::HandoffKind;

// Times of copies of mapped memory on a machine whose hand-offs `slow` take 100 times as long.
struct Mapped {
  double fetched_ns;
  double fetched_again_ns;
  double pushed_ns;
};
Mapped mapped_where_slow(const std::vector<HandoffKind>& slow) {
  Machine machine = four_cores();
  for (machine::HandoffCurve& handoff : machine.handoff) {
    if (std::find(slow.begin(), slow.end(), handoff.kind) == slow.end()) continue;
    for (double& ns : handoff.curve.ns) ns *= 100;
  }
  const machine::CostModel model(machine);
  const node::RankLocality locality = node::locality(machine.topology, {0, 1, 2, 3});
  const Costs costs(model, locality);
  constexpr std::size_t bytes = 1 << 16;
  return {costs.fetch_ns(bytes, 0, PeerCopy::of_mapped()),
          costs.fetch_again_ns(bytes, 0, PeerCopy::of_mapped()),
          costs.push_ns(bytes, 0, PeerCopy::of_mapped())};
}

TEST(CopyOfMapped, UsesTheFasterKernel) {
  const Mapped quick = mapped_where_slow({});
  const Mapped by_pages = mapped_where_slow({HandoffKind::read_dirty, HandoffKind::write_cached});
  EXPECT_LE(by_pages.fetched_ns, quick.fetched_ns * 1.5);
  EXPECT_LE(by_pages.pushed_ns, quick.pushed_ns * 1.5);
  EXPECT_LE(by_pages.fetched_again_ns, quick.fetched_again_ns * 1.5);
}

// A fetch into lines that the peer has read both reads and takes lines.
TEST(CopyOfMapped, FetchReadsLinesAndPushTakesLines) {
  const Mapped quick = mapped_where_slow({});
  const Mapped reads = mapped_where_slow({HandoffKind::read_dirty, HandoffKind::read_interleaved});
  const Mapped writes =
      mapped_where_slow({HandoffKind::write_cached, HandoffKind::write_interleaved});
  EXPECT_GT(reads.fetched_ns, 10 * quick.fetched_ns);
  EXPECT_EQ(reads.pushed_ns, quick.pushed_ns);
  EXPECT_EQ(writes.fetched_ns, quick.fetched_ns);
  EXPECT_GT(writes.pushed_ns, 10 * quick.pushed_ns);
  EXPECT_GT(reads.fetched_again_ns, 10 * quick.fetched_ns);
  EXPECT_GT(writes.fetched_again_ns, 10 * quick.fetched_ns);
  EXPECT_GT(quick.fetched_again_ns, std::max(quick.fetched_ns, quick.pushed_ns));
}

}  // namespace
}  // namespace huddle::select

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/node_bootstrap.h"

#include <memory>

#include "runtime/internode/finish.h"
#include "runtime/internode/rank_wire.h"
#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/execution.h"

namespace huddle::internode {
team::Bootstrap NodeBootstrap::bootstrap() {
  return {place_, ranks(),
          [this](std::span<const std::byte> mine, std::span<std::byte> all) { gather(mine, all); }};
}

void NodeBootstrap::gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  run(net::Operation::allgather, 0, mine.size(), mine.data(), all.data());
}

void NodeBootstrap::bcast(std::span<std::byte> bytes, int root) {
  run(net::Operation::bcast, root, bytes.size(), bytes.data(), bytes.data());
}

// By the algorithm of the fewest rounds. Nothing is known yet of who shares a processor with whom.
void NodeBootstrap::run(net::Operation operation, int root, std::size_t block_bytes,
                        const std::byte* input, std::byte* output) {
  const bool gathers = operation == net::Operation::allgather;
  const net::Algorithm& algorithm =
      net::algorithm_named(gathers ? "allgather:bruck" : "bcast:knomial");
  const auto schedule = net::make_schedule(algorithm, {.ranks = ranks(), .root = root});
  const auto data =
      net::CallData::of(operation, place_, net::Sizes::equal(block_bytes), input, output);
  SomeRanks wire(wire_, here_);
  world::hardware::Waiting waiting({.crowded = true}, nullptr, nullptr);
  finish(std::make_unique<net::Execution>(*schedule, place_, data, memory::Reduction{}, wire),
         waiting);
}

}  // namespace huddle::internode

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/engine_comparisons.h"

#include <fmt/format.h>

#include <iterator>

#include "common/text.h"
#include "runtime/memory/copy.h"
#include "runtime/node/direct_exchange.h"
#include "runtime/select/costs.h"
#include "tools/bench/engine/bare.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/team_calls.h"

namespace huddle::bench {
namespace {

using Kind = Bar::Kind;
using select::Operation;

// A stretch lasts at least about 10 us, so that the 25 ns for reading the clock do not matter. The
// number of calls is even, as PingPong requires.
constexpr int calls_in_a_series = 500;
constexpr int series_in_a_round = 24;
// Ranks that share cores need fewer calls, because each switch between them takes microseconds.
constexpr int crowded_calls_in_a_series = 100;
constexpr int crowded_series_in_a_round = 12;
constexpr int crowded_ranks = 8;

constexpr std::size_t large_sizes[] = {std::size_t{512} << 10, std::size_t{4} << 20};

// Number of calls and stretches of a comparison's entries; see Entry.
struct Series {
  int calls;
  int stretches;
};
// Returns a series whose stretches have a single call each.
Series single_calls(const Comparison& comparison, const Scale& scale) {
  return {1, scale.single_calls(comparison.bytes)};
}

void add(Comparison& comparison, const Series& series, std::string name,
         std::unique_ptr<Implementation> implementation, bool bare) {
  comparison.entries.push_back({.name = std::move(name),
                                .implementation = std::move(implementation),
                                .bare = bare,
                                .calls = series.calls,
                                .stretches = series.stretches});
}

// Adds a BareRing for each copy method that this machine supports. Returns the indices of the
// entries.
std::vector<std::size_t> add_rings(Comparison& comparison, const Series& series) {
  std::vector<std::size_t> rings;
  for (memory::CopyMethod method : memory::to_one_reader) {
    if (!select::is_possible(method, memory::to_one_reader)) continue;
    rings.push_back(comparison.entries.size());
    add(comparison, series, fmt::format("hand-off through a ring, {}", memory::name(method)),
        std::make_unique<BareRing>(method), true);
  }
  return rings;
}

// Returns a comparison that runs on two ranks, with no entries and no judgements yet.
Comparison of_two(const std::vector<int>& pus, std::string name, std::size_t bytes) {
  return {.name = std::move(name),
          .binding = {2, {pus[0], pus[1]}},
          .bytes = bytes,
          .entries = {},
          .judgements = {}};
}

Comparison flags_of_two(const std::vector<int>& pus, const Scale& scale) {
  Comparison comparison = of_two(pus, "flags of two ranks", 0);
  const Series series{calls_in_a_series, scale.stretches(series_in_a_round)};
  add(comparison, series, "barrier", barrier_implementation(2, TeamBarrier()), false);
  add(comparison, series, "two flags in one cache line",
      barrier_implementation(2, OneLineExchange()), true);
  add(comparison, series, "two flags in two cache lines",
      barrier_implementation(2, TwoLineExchange()), true);
  add(comparison, series, "broadcast of 8 bytes, roots in turn", std::make_unique<RotatingBcast>(),
      false);
  add(comparison, series, "a cache line one way", std::make_unique<PingPong>(), true);
  comparison.judgements = {
      {.what = "barrier, 2 ranks",
       .subject = 0,
       .rivals = {1, 2},
       .bar = {Kind::time_at_most, 1.3}},
      {.what = "broadcast of 8 bytes", .subject = 3, .rivals = {4}, .bar = {Kind::time_at_most, 2}},
  };
  return comparison;
}

Comparison data_of_two(const std::vector<int>& pus, std::size_t bytes, const Scale& scale) {
  const std::string size = size_text(static_cast<double>(bytes));
  Comparison comparison = of_two(pus, size + " between two ranks", bytes);
  const Series series = single_calls(comparison, scale);
  add(comparison, series, "broadcast of " + size,
      std::make_unique<TeamOperation>(Calls{Operation::bcast, bytes}), false);
  add(comparison, series, "allreduce of " + size,
      std::make_unique<TeamOperation>(Calls{Operation::allreduce, bytes}), false);
  const std::vector<std::size_t> rings = add_rings(comparison, series);
  const auto moved = static_cast<double>(bytes);
  const Bar bar{Kind::rate_at_least, 0.8};
  comparison.judgements = {
      {"broadcast of " + size, 0, rings, bar, moved, moved},
      // Each rank copies one half in, reduces the other half and copies that half out.
      {"allreduce of " + size, 1, rings, bar, 1.5 * moved, moved},
  };
  return comparison;
}

// Compares exchanges with a copy through a ring. Each rank's buffers hold a block of `bytes` bytes
// per rank. The data that a rank has to move are counted in blocks: its own block, the blocks that
// it publishes and those that it reads.
Comparison exchanges_of_two(const std::vector<int>& pus, std::size_t bytes, const Scale& scale) {
  const std::string size = size_text(static_cast<double>(bytes));
  constexpr int ranks = 2;
  Comparison comparison = of_two(pus, "blocks of " + size + " between two ranks", ranks * bytes);
  const Series series = single_calls(comparison, scale);
  struct Moved {
    Operation operation;
    double blocks;  // by the rank that moves most
  };
  constexpr Moved all[] = {
      {Operation::alltoall, 3}, {Operation::allgather, 3}, {Operation::gather, 2}};
  for (const Moved& one : all) {
    add(comparison, series, fmt::format("{} of {}", name(one.operation), size),
        std::make_unique<TeamOperation>(Calls{one.operation, bytes}), false);
  }
  const std::vector<std::size_t> rings = add_rings(comparison, series);
  const auto block = static_cast<double>(bytes);
  for (std::size_t i = 0; i < std::size(all); ++i) {
    comparison.judgements.push_back({.what = comparison.entries[i].name,
                                     .subject = i,
                                     .rivals = rings,
                                     .bar = {Kind::rate_at_least, 0.6},
                                     .subject_bytes = all[i].blocks * block,
                                     // Each of the two ranks moves all of its buffer.
                                     .rival_bytes = ranks * block});
  }
  return comparison;
}

// Compares exchanges in which ranks read each other's memory with a bare process_vm_readv, which
// does not synchronize. The data moved are the blocks that a rank reads from its peer and the copy
// of its own block.
Comparison single_copy_of_two(const std::vector<int>& pus, std::size_t bytes, const Scale& scale) {
  const std::string size = size_text(static_cast<double>(bytes));
  constexpr int ranks = 2;
  Comparison comparison = of_two(pus, "blocks of " + size + " read by two ranks", ranks * bytes);
  const Series series = single_calls(comparison, scale);
  constexpr std::size_t both = 3;
  constexpr std::size_t first = 4;
  for (const Operation operation : {Operation::alltoall, Operation::allgather, Operation::gather}) {
    const std::size_t rival = operation == Operation::gather ? first : both;
    comparison.judgements.push_back(
        {.what = fmt::format("{} of {}, single copy", name(operation), size),
         .subject = comparison.entries.size(),
         .rivals = {rival},
         .bar = {Kind::rate_at_least, 0.8},
         .subject_bytes = static_cast<double>(ranks * bytes),
         .rival_bytes = static_cast<double>(ranks * bytes)});
    add(comparison, series, fmt::format("{} of {}, single copy", name(operation), size),
        std::make_unique<TeamOperation>(Calls{operation, bytes}, select::DirectExchangePlan{}),
        false);
  }
  add(comparison, series, "process_vm_readv by both ranks",
      std::make_unique<BareRead>(BareRead::Readers::both), true);
  add(comparison, series, "process_vm_readv by one rank",
      std::make_unique<BareRead>(BareRead::Readers::first), true);
  return comparison;
}

// Compares collectives in which ranks copy from each other's mapped buffers with the same copy
// without synchronization. The data moved are the blocks that a rank reads from its peer and the
// copy of its own block. A broadcast has no own block, so its rival only reads.
Comparison heap_of_two(const std::vector<int>& pus, std::size_t bytes, const Scale& scale) {
  const std::string size = size_text(static_cast<double>(bytes));
  constexpr int ranks = 2;
  Comparison comparison = of_two(pus, "blocks of " + size + " in the shared heap", ranks * bytes);
  comparison.in_heap = true;
  const Series series = single_calls(comparison, scale);
  struct Moved {
    double blocks;
    Operation operation;
    bool by_both;
  };
  // For an allreduce, a rank reduces half a block and copies the other half. The reduction reads
  // two halves and writes one, while a copy reads only one, so it counts 1.5 times.
  constexpr Moved all[] = {{1, Operation::bcast, false},
                           {1.25, Operation::allreduce, true},
                           {ranks, Operation::alltoall, true},
                           {ranks, Operation::allgather, true}};
  const auto block = static_cast<double>(bytes);
  constexpr std::size_t first = std::size(all);
  const std::vector<std::size_t> by_both = {first, first + 2};
  const std::vector<std::size_t> by_one = {first + 1, first + 3};
  for (const Moved& one : all) {
    const std::string what = fmt::format("{} of {}, shared heap", name(one.operation), size);
    comparison.judgements.push_back({.what = what,
                                     .subject = comparison.entries.size(),
                                     .rivals = one.by_both ? by_both : by_one,
                                     .bar = {Kind::rate_at_least, 0.8},
                                     .subject_bytes = one.blocks * block,
                                     .rival_bytes = (one.by_both ? ranks : 1) * block});
    add(comparison, series, what, std::make_unique<TeamOperation>(Calls{one.operation, bytes}),
        false);
  }
  for (const auto kernel : {memory::CopyKernel::plain, memory::CopyKernel::interleaved}) {
    const std::string_view how = memory::name(kernel);
    add(comparison, series, fmt::format("own and mapped memory copied by both ranks, {}", how),
        std::make_unique<BareRead>(BareRead::Readers::both, BareRead::Own::copied, kernel), true);
    add(comparison, series, fmt::format("mapped memory copied by one rank, {}", how),
        std::make_unique<BareRead>(BareRead::Readers::first, BareRead::Own::left, kernel), true);
  }
  return comparison;
}

Comparison crowd(const std::vector<int>& pus, const Scale& scale) {
  Comparison comparison{.name = "more ranks than cores",
                        .binding = {crowded_ranks, {pus[0], pus[1]}},
                        .entries = {},
                        .judgements = {}};
  const Series series{crowded_calls_in_a_series, scale.stretches(crowded_series_in_a_round)};
  add(comparison, series, "barrier", barrier_implementation(crowded_ranks, TeamBarrier()), false);
  add(comparison, series, "a counter and sched_yield",
      barrier_implementation(crowded_ranks, YieldingCounter()), true);
  add(comparison, series, "a flag per rank and sched_yield",
      barrier_implementation(crowded_ranks, YieldingFlags(crowded_ranks)), true);
  comparison.judgements = {{.what = fmt::format("barrier, {} on 2 cores", crowded_ranks),
                            .subject = 0,
                            .rivals = {1, 2},
                            .bar = {Kind::time_at_most, 1.5}}};
  return comparison;
}

}  // namespace

std::vector<Comparison> engine_comparisons(const std::vector<int>& pus, const Scale& scale) {
  std::vector<Comparison> comparisons;
  if (pus.size() < 2) return comparisons;
  comparisons.push_back(flags_of_two(pus, scale));
  for (const std::size_t bytes : large_sizes) {
    comparisons.push_back(data_of_two(pus, bytes, scale));
    comparisons.push_back(exchanges_of_two(pus, bytes, scale));
  }
  if (ranks_may_read()) {
    for (const std::size_t bytes : large_sizes) {
      comparisons.push_back(single_copy_of_two(pus, bytes, scale));
    }
  }
  for (const std::size_t bytes : large_sizes) {
    comparisons.push_back(heap_of_two(pus, bytes, scale));
  }
  comparisons.push_back(crowd(pus, scale));
  return comparisons;
}

}  // namespace huddle::bench

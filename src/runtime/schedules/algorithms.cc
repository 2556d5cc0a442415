// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/schedules/algorithms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "common/error.h"
#include "common/text.h"

namespace huddle::schedules {
namespace {

constexpr Uses nothing = {};
constexpr Uses a_radix = {.radix = true};
constexpr Uses some_segments = {.segments = true};
constexpr Uses bounded_messages = {.message_blocks = true};
constexpr Uses some_shares = {.shares = true};

constexpr Algorithm allgather(std::string_view name, std::string_view summary, const Uses& uses,
                              MakeSchedule* make) {
  return {Operation::allgather, name, summary, Order::none, uses, true, make};
}

constexpr Algorithm bcast(std::string_view name, std::string_view summary, const Uses& uses,
                          MakeSchedule* make) {
  return {Operation::bcast, name, summary, Order::none, uses, false, make};
}

constexpr Algorithm allreduce(std::string_view name, std::string_view summary, Order order,
                              MakeSchedule* make) {
  return {Operation::allreduce, name, summary, order, nothing, true, make};
}

constexpr Algorithm reduce_scatter(std::string_view name, std::string_view summary, Order order,
                                   MakeSchedule* make) {
  return {Operation::reduce_scatter, name, summary, order, nothing, false, make};
}

constexpr std::array table = {
    allgather("ring", "ring: each rank passes on the blocks that it has received", some_shares,
              allgather_ring),
    allgather("neighbor", "exchange with the two neighbours alternately, two blocks at a time",
              nothing, allgather_neighbor),
    allgather("doubling", "recursive doubling: exchange all data at distance 1, 2, 4, ...", nothing,
              allgather_doubling),
    allgather("bruck", "Bruck: receive as many blocks again from distance 1, 2, 4, ...", a_radix,
              allgather_bruck),
    allgather("sparbit", "a binomial tree for each block, longest distances first", nothing,
              allgather_sparbit),
    allgather("far-first", "as sparbit with bounded messages, depth first", bounded_messages,
              allgather_far_first),
    bcast("knomial", "a k-nomial tree, binomial for radix 2", a_radix, bcast_knomial),
    bcast("chain", "chain: each rank passes segments on to the next", some_segments, bcast_chain),
    bcast("scatter-ring", "scatter by a binomial tree, then allgather by a ring", nothing,
          bcast_scatter_ring),
    bcast("scatter-doubling", "scatter by a binomial tree, then allgather by recursive doubling",
          nothing, bcast_scatter_doubling),
    bcast("circulant",
          "circulant graph: segments at increasing distances, in the minimum number of rounds",
          some_segments, bcast_circulant),
    Algorithm{Operation::barrier, "dissemination", "signal the ranks at distance 1, 2, 4, ...",
              Order::none, a_radix, false, barrier_dissemination},
    allreduce("doubling", "recursive doubling: exchange all data at distance 1, 2, 4, ...",
              Order::reduction_order, allreduce_doubling),
    allreduce("halving", "recursive halving, then allgather in the reverse order",
              Order::reduction_order, allreduce_halving),
    allreduce("slices", "each rank reduces one slice and sends it to all", Order::reduction_order,
              allreduce_slices),
    allreduce("ring", "ring: blocks go round twice, first to be reduced", Order::free,
              allreduce_ring),
    Algorithm{Operation::reduce, "binomial", "a binomial tree, with the same bits for any root",
              Order::reduction_order, nothing, true, reduce_binomial},
    reduce_scatter("halving", "recursive halving at distance 1, 2, 4, ...", Order::reduction_order,
                   reduce_scatter_halving),
    reduce_scatter("slices", "each rank reduces its own block", Order::reduction_order,
                   reduce_scatter_slices),
    reduce_scatter("ring", "ring: blocks go round once", Order::free, reduce_scatter_ring),
    Algorithm{Operation::alltoall, "spread", "in round k, send to the rank k further on",
              Order::none, nothing, false, alltoall_spread},
    Algorithm{Operation::alltoall, "pairwise", "exchange with one rank after the other",
              Order::none, nothing, true, alltoall_pairwise},
    Algorithm{Operation::alltoall, "bruck",
              "Bruck: by the digits of the distance, through intermediate ranks", Order::none,
              a_radix, false, alltoall_bruck, true},
    Algorithm{Operation::gather, "knomial", "up a k-nomial tree", Order::none, a_radix, true,
              gather_knomial},
    Algorithm{Operation::scatter, "knomial", "down a k-nomial tree", Order::none, a_radix, true,
              scatter_knomial},
    Algorithm{Operation::scan, "doubling", "pass on partial results at distance 1, 2, 4, ...",
              Order::reduction_order, nothing, true, scan_doubling},
    Algorithm{Operation::exscan, "doubling", "pass on partial results at distance 1, 2, 4, ...",
              Order::reduction_order, nothing, true, exscan_doubling},
};

UsageError unknown(std::string_view kind, std::string_view word,
                   const std::vector<std::string>& names) {
  const std::string guess = did_you_mean(word, names);
  return UsageError(
      fmt::format("unknown {} '{}'{}", kind, word,
                  guess.empty() ? fmt::format("; use one of {}", fmt::join(names, ", ")) : guess));
}

}  // namespace

std::string Algorithm::full_name() const {
  return fmt::format("{}:{}", schedules::name(operation), name);
}

std::span<const Algorithm> algorithms() { return table; }

Operation operation_named(std::string_view word) {
  std::vector<std::string> names;
  for (const Operation operation : operations) {
    if (name(operation) == word) return operation;
    names.emplace_back(name(operation));
  }
  throw unknown("operation", word, names);
}

const Algorithm& algorithm_named(std::string_view full_name) {
  const Operation operation = operation_named(full_name.substr(0, full_name.find(':')));
  std::vector<std::string> names;
  for (const Algorithm& algorithm : table) {
    if (algorithm.operation != operation) continue;
    names.push_back(algorithm.full_name());
    if (names.back() == full_name) return algorithm;
  }
  throw unknown("algorithm", full_name, names);
}

std::unique_ptr<Schedule> make_schedule(const Algorithm& algorithm, const Call& call) {
  const std::string name = algorithm.full_name();
  if (call.ranks < 1) {
    throw UsageError(
        fmt::format("{} among {} ranks: at least one rank is required", name, call.ranks));
  }
  if (has_root(algorithm.operation) && (call.root < 0 || call.root >= call.ranks)) {
    throw UsageError(fmt::format("there is no root {} among {}; the last rank is {}", call.root,
                                 counted(call.ranks, "rank"), call.ranks - 1));
  }
  if (call.radix < 2 || call.segments < 1 || call.message_blocks < 1) {
    throw UsageError(
        fmt::format("{} with radix {}, {} segments and {} blocks per message: the radix must be at "
                    "least 2, the others at least 1",
                    name, call.radix, call.segments, call.message_blocks));
  }
  return algorithm.make(call);
}

}  // namespace huddle::schedules

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Candidates and predicted times of the single-copy algorithms.
#include "runtime/select/algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "common/text.h"

namespace huddle::select {
namespace {

using node::DirectExchange;
using node::DirectReduce;
using node::PairExchange;

// Two synchronizations: in the first one every rank learns the addresses of its peers' data, and in
// the second one that no peer still accesses its own.
double both_meetings_ns(const Costs& costs) { return 2 * costs.synchronization_ns(); }

double others_of(const Costs& costs) { return static_cast<double>(costs.ranks() - 1); }

// Calls add(by) for each way of copying for which the machine file has figures and which is not
// refused: through mapped buffers if the request has these, otherwise through each path.
template <class Add>
void for_each_peer_copy(const Costs& costs, const TeamResources& resources, const Request& request,
                        Add add) {
  if (request.mapped) {
    if (resources.heap_refusal.empty()) add(PeerCopy::of_mapped());
    return;
  }
  for (std::size_t number = 0; number < resources.paths.size(); ++number) {
    const PathState& path = resources.paths[number];
    if (!path.refusal.empty() || !std::isfinite(costs.path_ns(path.name, 1, 0))) continue;
    add(PeerCopy{path.name, static_cast<single_copy::PathNumber>(number)});
  }
}

double plain_own_ns(const Costs& costs, const Request& request) {
  return own_ns(costs, request, memory::CopyKernel::plain);
}

// Returns the time of a block that a rank copies from or to a peer while `others` do so as well.
// The result is by_itself_ns, unless the caches or the memory that hold all data are slower.
double among_all_ns(const Costs& costs, const Request& request, int others, double by_itself_ns) {
  const std::size_t all_bytes = data_bytes(request, costs.ranks());
  const double moved_ns = costs.move_ns(request.bytes, all_bytes, memory::CopyKernel::plain);
  return std::max(by_itself_ns, costs.in_turns_ns(moved_ns, others + 1));
}

// Returns the time to read a block from a peer into this rank's buffer.
double fetched_ns(const Costs& costs, const Request& request, const PeerCopy& by, int others) {
  return among_all_ns(costs, request, others, costs.fetch_ns(request.bytes, others, by));
}

void add_blocks(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                const Request& request) {
  for_each_peer_copy(costs, resources, request, [&](const PeerCopy& by) {
    list.push_back({DirectExchangePlan{{}, by.path}, std::string(by.name),
                    direct_blocks_ns(costs, request, by)});
  });
}

void add_gather(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                const Request& request) {
  for_each_peer_copy(costs, resources, request, [&](const PeerCopy& by) {
    list.push_back({DirectExchangePlan{{}, by.path}, std::string(by.name),
                    direct_gather_ns(costs, request, by)});
  });
}

// Adds plans for operations in which all ranks but the root copy, from the root or to it.
template <class PlanOfIt>
void add_by_others(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                   const Request& request) {
  for_each_peer_copy(costs, resources, request, [&](const PeerCopy& by) {
    const auto add = [&](int at_once, const std::string& words) {
      const DirectExchange::Plan plan{at_once};
      list.push_back(
          {PlanOfIt{plan, by.path}, words, direct_by_others_ns(costs, request, by, plan)});
    };
    add(0, std::string(by.name));
    for (int at_once = 1; at_once < costs.ranks() - 1; at_once *= 2) {
      add(at_once, fmt::format("{}, {} at a time", by.name, at_once));
    }
  });
}

// Adds plans that read a block, reduce it, and then reuse its place.
void add_reduce_by(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                   const Request& request, const PeerCopy& by) {
  for (std::size_t block = node::page_bytes; block <= resources.direct_reduce.block_bytes;
       block *= 2) {
    if (block < request.element_bytes) continue;
    const std::string words =
        fmt::format("{}, blocks of {}", by.name, size_text(static_cast<double>(block)));
    const auto add = [&](DirectReduce::Results results, std::string_view more) {
      const DirectReduce::Plan plan{block, results};
      list.push_back({DirectReducePlan{plan, by.path}, fmt::format("{}{}", words, more),
                      direct_reduce_ns(costs, request, by, plan)});
    };
    add(DirectReduce::Results::are_read, "");
    const bool is_to_mapped = request.operation == Operation::reduce && by.mapped;
    if (!reduces_to_blocks(request.operation) && !is_to_mapped) {
      add(DirectReduce::Results::are_written, ", results written");
    }
    if (block * static_cast<std::size_t>(costs.ranks()) >= request.bytes) break;
  }
}

void add_reduce(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                const Request& request) {
  for_each_peer_copy(costs, resources, request, [&](const PeerCopy& by) {
    add_reduce_by(list, costs, resources, request, by);
  });
}

// A range of sizes for which a predicate holds: the longest run of powers of two.
struct SizeRange {
  std::size_t from = PairExchange::Plan::never;
  std::size_t up_to = PairExchange::Plan::never;
};
constexpr std::array<std::size_t, 25> sizes_of_ranges = [] {
  std::array<std::size_t, 25> sizes{};
  std::size_t bytes = node::line_bytes;
  for (std::size_t& size : sizes) {
    size = bytes;
    bytes *= 2;
  }
  return sizes;
}();
using NsBySize = std::array<double, sizes_of_ranges.size()>;
template <class Ns>
NsBySize by_size(Ns ns) {
  NsBySize all{};
  std::transform(sizes_of_ranges.begin(), sizes_of_ranges.end(), all.begin(), ns);
  return all;
}
// Returns the range of sizes for which `these` are shorter than `others`.
SizeRange range_where_shorter(const NsBySize& these, const NsBySize& others) {
  SizeRange range;
  std::size_t most = 0;
  std::size_t in_a_row = 0;
  for (std::size_t i = 0; i < these.size(); ++i) {
    in_a_row = these[i] < others[i] ? in_a_row + 1 : 0;
    if (in_a_row <= most) continue;
    most = in_a_row;
    const bool is_last = i + 1 == these.size();
    range = {sizes_of_ranges[i + 1 - most],
             is_last ? PairExchange::Plan::never : sizes_of_ranges[i]};
  }
  return range;
}

// Returns the time of the two flags of each pair of ranks: one with the address of the block, and
// one in the other direction that acknowledges the read.
double announced_flags_ns(const Costs& costs) { return 2 * costs.flags_to_first_ns(); }

double read_ns(const Costs& costs, const Request& request, const PeerCopy& by) {
  const double begin_ns = plain_own_ns(costs, request) + announced_flags_ns(costs);
  const int others = costs.ranks() - 1;
  if (scatters_from_root(request.operation)) {
    return begin_ns + fetched_ns(costs, request, by, others - 1);
  }
  const int at_once = gathers_at_root(request.operation) ? 0 : others;
  return begin_ns + others_of(costs) * fetched_ns(costs, request, by, at_once);
}

// In a gather only the root would read; instead all senders may write at the same time. One more
// flag contains the target address. The root copies its own block meanwhile.
double written_ns(const Costs& costs, const Request& request, const PeerCopy& by) {
  if (!gathers_at_root(request.operation)) return std::numeric_limits<double>::infinity();
  return announced_flags_ns(costs) + costs.line_ns(0, costs.farthest_from(0)) +
         std::max(plain_own_ns(costs, request),
                  costs.push_ns(request.bytes, costs.ranks() - 2, by));
}

// tiles_ns: the times without announcements.
PairExchange::Plan with_announced_sizes(PairExchange::Plan plan, const Costs& costs,
                                        Operation operation, const NsBySize& tiles_ns,
                                        const PeerCopy& by) {
  const NsBySize reads_ns = by_size([&](std::size_t bytes) {
    return read_ns(costs, {operation, bytes, 1}, by);
  });
  const NsBySize writes_ns = by_size([&](std::size_t bytes) {
    return written_ns(costs, {operation, bytes, 1}, by);
  });
  NsBySize least_ns{};
  for (std::size_t i = 0; i < least_ns.size(); ++i)
    least_ns[i] = std::min(reads_ns[i], writes_ns[i]);
  const SizeRange announced = range_where_shorter(least_ns, tiles_ns);
  const SizeRange written = range_where_shorter(writes_ns, reads_ns);
  plan.announced_from = announced.from;
  plan.announced_up_to = announced.up_to;
  plan.written_from = written.from;
  plan.written_up_to = written.up_to;
  return plan;
}

std::string range_text(std::size_t from, std::size_t up_to) {
  const auto size = [](std::size_t bytes) { return size_text(static_cast<double>(bytes)); };
  if (up_to == PairExchange::Plan::never) return fmt::format("from {} on", size(from));
  return fmt::format("from {} to {}", size(from), size(up_to));
}

std::string announced_text(const PairExchange::Plan& plan, const PeerCopy& by) {
  std::string all =
      fmt::format("{} {}", by.name, range_text(plan.announced_from, plan.announced_up_to));
  const std::size_t from = std::max(plan.written_from, plan.announced_from);
  const std::size_t up_to = std::min(plan.written_up_to, plan.announced_up_to);
  if (plan.written_from == PairExchange::Plan::never || from > up_to) return all;
  return fmt::format("{}, written {}", all, range_text(from, up_to));
}

// The sizes of blocks that are announced, and the path by which they are read.
struct Announcement {
  PairExchange::Plan plan;
  PeerCopy by;
};

// One plan handles blocks of all sizes. Its path is the cheapest one for the smallest blocks that
// all compared paths would announce.
std::optional<Announcement> best_announcement(const Costs& costs, const TeamResources& resources,
                                              const Request& request,
                                              const PairExchange::Plan& tiles) {
  std::optional<Announcement> best;
  const NsBySize tiles_ns = by_size([&](std::size_t bytes) {
    return pairs_uneven_ns(costs, resources.pair_exchange.cells, {request.operation, bytes, 1},
                           tiles);
  });
  for_each_peer_copy(costs, resources, request, [&](const PeerCopy& by) {
    const auto plan = with_announced_sizes(tiles, costs, request.operation, tiles_ns, by);
    if (plan.announced_from == PairExchange::Plan::never) return;
    const auto is_cheaper = [&](const Announcement& than) {
      const std::size_t bytes = std::max(plan.announced_from, than.plan.announced_from);
      const Request of_both{request.operation, bytes, 1};
      return announced_ns(costs, of_both, by) < announced_ns(costs, of_both, than.by);
    };
    if (!best || is_cheaper(*best)) best = Announcement{plan, by};
  });
  return best;
}

// The plan announces the same blocks whether or not buffers are mapped.
void add_announced(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                   const Request& request) {
  const Candidate tiles = uneven_candidate(costs, resources, request);
  Request anywhere = request;
  anywhere.mapped = false;
  const auto best =
      best_announcement(costs, resources, anywhere, std::get<PairExchange::Plan>(tiles.plan));
  if (!best) return;
  list.push_back(
      {AnnouncedPlan{best->plan, best->by.path},
       fmt::format("{}, else {}", announced_text(best->plan, best->by), tiles.parameters),
       best->plan.announces(request.bytes) ? announced_ns(costs, request, best->by) : tiles.ns});
}

std::string leave_and(std::string_view more = {}) {
  return fmt::format("ranks that may read each other's memory{}", more);
}

}  // namespace

double announced_ns(const Costs& costs, const Request& request, const PeerCopy& by) {
  const PeerCopy read_by = request.mapped ? PeerCopy::of_mapped() : by;
  return std::min(read_ns(costs, request, read_by), written_ns(costs, request, by));
}

double direct_blocks_ns(const Costs& costs, const Request& request, const PeerCopy& by) {
  return both_meetings_ns(costs) + plain_own_ns(costs, request) +
         others_of(costs) * fetched_ns(costs, request, by, costs.ranks() - 1);
}

double direct_gather_ns(const Costs& costs, const Request& request, const PeerCopy& by) {
  return both_meetings_ns(costs) + plain_own_ns(costs, request) +
         others_of(costs) * fetched_ns(costs, request, by, 0);
}

namespace {

double copied_by_others_ns(const Costs& costs, const Request& request, const PeerCopy& by,
                           int others) {
  if (request.operation == Operation::gather) {
    return among_all_ns(costs, request, others, costs.push_ns(request.bytes, others, by));
  }
  if (!request.root_moved) return fetched_ns(costs, request, by, others);
  return among_all_ns(costs, request, others, costs.fetch_again_ns(request.bytes, others, by));
}

}  // namespace

double direct_by_others_ns(const Costs& costs, const Request& request, const PeerCopy& by,
                           const DirectExchange::Plan& plan) {
  const int others = costs.ranks() - 1;
  const int at_once = plan.at_once == 0 ? others : std::min(plan.at_once, others);
  const double waves =
      ceil_div(static_cast<std::size_t>(others), static_cast<std::size_t>(at_once));
  return both_meetings_ns(costs) + waves * copied_by_others_ns(costs, request, by, at_once - 1) +
         (waves - 1) * costs.line_ns(0, costs.farthest_from(0));
}

namespace {

// Returns the time to reduce one rank's slice of all peers' data block by block.
double joined_slices_ns(const Costs& costs, std::size_t slice, const DirectReduce::Plan& plan,
                        const Request& request, const PeerCopy& by) {
  const int others = costs.ranks() - 1;
  const std::size_t block = std::min(plan.block_bytes, slice);
  const double blocks = ceil_div(slice, block);
  // Two blocks that were read, and their result.
  constexpr std::size_t blocks_at_hand = 3;
  const double joined_again_ns = blocks * costs.reduce_ns(block, blocks_at_hand * block, 0);
  if (!by.mapped) {
    return others * (blocks * costs.fetch_ns(block, others, by) + joined_again_ns);
  }
  // The first peer's slice is reduced with this rank's own data, which are read once, at the rate
  // of the cache or memory that holds them.
  return others * (costs.fetch_ns(slice, others, by) +
                   blocks * costs.line_ns(0, costs.farthest_from(0))) +
         costs.reduce_ns(slice, request.bytes, 0) + (others - 1) * joined_again_ns;
}

// Returns the time to write one rank's slice of the result to a peer that has used its previous
// result, while `others` write as well.
double written_result_ns(const Costs& costs, std::size_t slice, int others,
                         const DirectReduce::Plan& plan, const PeerCopy& by) {
  if (by.mapped) return costs.push_ns(slice, others, by);
  const std::size_t block = std::min(plan.block_bytes, slice);
  return ceil_div(slice, block) * costs.push_ns(block, others, by);
}

}  // namespace

// A rank reduces its slice of all ranks' data. If all ranks need the result, each then reads the
// peers' slices of it or writes its own slice to them. If one rank needs it, that rank fetches the
// slices from shared memory, or the peers write them to its memory or reduce into it.
double direct_reduce_ns(const Costs& costs, const Request& request, const PeerCopy& by,
                        const DirectReduce::Plan& plan) {
  const std::size_t mine =
      std::max<std::size_t>(request.bytes / static_cast<std::size_t>(costs.ranks()), 1);
  const double others = others_of(costs);
  const double joined_ns =
      both_meetings_ns(costs) + joined_slices_ns(costs, mine, plan, request, by);
  if (reduces_to_blocks(request.operation)) return joined_ns;
  if (plan.results == DirectReduce::Results::are_written) {
    const bool is_to_one = request.operation == Operation::reduce;
    const int at_once = is_to_one ? costs.ranks() - 2 : costs.ranks() - 1;
    return joined_ns + (is_to_one ? 1 : others) * written_result_ns(costs, mine, at_once, plan, by);
  }
  // A result replaces one that a peer has read, and all inputs and results have passed through the
  // caches since that one was written. Apart from this, writing the result adds no time to the
  // reduction.
  const int far = costs.farthest_from(0);
  const double written_ns = costs.write_ns(mine, 2 * request.bytes, 0, far, {});
  const double rewritten_ns =
      std::max(0.0, written_ns - costs.reduce_ns(mine, 2 * request.bytes, 0));
  if (request.operation == Operation::allreduce) {
    return joined_ns + rewritten_ns + costs.synchronization_ns() +
           others * costs.fetch_ns(mine, costs.ranks() - 1, by);
  }
  if (by.mapped) return joined_ns + rewritten_ns;
  const std::size_t block = std::min(plan.block_bytes, mine);
  // Each block of the result is published while the previous one is being read.
  const std::size_t buffers = 2 * block;
  return joined_ns + others * ceil_div(mine, block) *
                         (costs.show_ns(block, buffers, far, 0, {}) + costs.line_ns(far, 0) +
                          costs.read_ns(block, far, 0, 0));
}

Algorithm announced_algorithm() {
  return described<AnnouncedPlan>(leave_and(", for large blocks"), add_announced);
}

std::vector<Algorithm> direct_algorithms(Operation operation) {
  switch (operation) {
    case Operation::barrier:
    case Operation::scan:
    case Operation::exscan:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gatherv:
    case Operation::scatterv:
      return {};
    case Operation::bcast:
      return {described<DirectExchangePlan>(leave_and(), add_by_others<DirectExchangePlan>)};
    case Operation::scatter:
      return {described<DirectExchangePlan>(leave_and(", equal blocks"),
                                            add_by_others<DirectExchangePlan>)};
    case Operation::allgather:
    case Operation::allgatherv:
      return {described<DirectExchangePlan>(leave_and(), add_blocks)};
    case Operation::alltoall:
      return {described<DirectExchangePlan>(leave_and(", equal blocks"), add_blocks)};
    case Operation::gather:
      return {described<DirectExchangePlan>(leave_and(", equal blocks"), add_gather),
              described<PushedPlan>("ranks that may write to each other's memory, equal blocks",
                                    add_by_others<PushedPlan>)};
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return {
          described<DirectReducePlan>(leave_and(", elements that fit into a block"), add_reduce)};
  }
  return {};
}

}  // namespace huddle::select

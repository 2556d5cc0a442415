// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Candidates and predicted times of the operations that move blocks.
#include "runtime/select/algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "common/text.h"

namespace huddle::select {
namespace {

using memory::CopyMethods;
using node::DoublingExchange;
using node::PairExchange;
using node::PublishedRounds;
using node::RootedExchange;
using node::SlotExchange;
using Order = PairExchange::Order;

// Number of ranks that write, and that read, at the same time.
struct AtOnce {
  int writers = 1;
  int readers = 1;
};

bool is_rooted(Operation operation) {
  return gathers_at_root(operation) || scatters_from_root(operation);
}

// Returns the size of all data if each rank had the amount of the rank with the most data. A root
// has blocks for all ranks, but only the caches of its own core.
std::size_t bytes_of_fullest(const Costs& costs, const Request& request) {
  const std::size_t all = data_bytes(request, costs.ranks());
  if (!is_rooted(request.operation)) return all;
  const auto blocks = static_cast<std::size_t>(costs.ranks()) + 1;
  return std::max(all, costs.if_every_processor_had(blocks * request.bytes));
}

// Size of all sources and of all results, and the kernel that writes the results.
struct Data {
  std::size_t sources_bytes = 0;
  std::size_t results_bytes = 0;
  memory::CopyKernel results = memory::CopyKernel::plain;
};
// The buffers through which the data pass, buffers_bytes per rank, occupy the caches as well.
Data data_of(const Costs& costs, const Request& request, memory::CopyKernel results,
             std::size_t buffers_bytes) {
  const std::size_t buffers = static_cast<std::size_t>(costs.ranks()) * buffers_bytes;
  const std::size_t evenly = data_bytes(request, costs.ranks());
  const std::size_t of_fullest = bytes_of_fullest(costs, request);
  return {(gathers_at_root(request.operation) ? evenly : of_fullest) + buffers,
          (scatters_from_root(request.operation) ? evenly : of_fullest) + buffers, results};
}
memory::CopyKernel kernel_of_results(const Costs& costs, const Request& request) {
  return costs.kernel_of_results(data_bytes(request, costs.ranks()));
}
std::string text_of_results(memory::CopyKernel results) {
  return results == memory::CopyKernel::nontemporal ? ", non-temporal stores" : "";
}

// A rank and the peer that it reads from and writes to.
struct Pair {
  int rank = 0;
  int peer = 0;
};
// Returns the pair that is considered for algorithms in which every rank exchanges data with every
// other.
Pair farthest(const Costs& costs) { return {0, costs.farthest_from(0)}; }

// The time in which a rank writes, and the time in which its peer reads. Data in the flag's line
// arrive with the flag.
struct Moved {
  double write_ns = 0;
  double read_ns = 0;
};
Moved moved(const Costs& costs, const Pair& pair, const Piece& piece, const AtOnce& at_once,
            memory::CopyMethod method, const Data& data) {
  const auto [bytes, of_bytes, buffers_bytes] = piece;
  const double results_ns =
      costs.in_turns_ns(costs.move_ns(bytes, data.results_bytes, data.results), at_once.readers);
  if (node::fits_behind_flag(bytes)) return {0, results_ns};
  const auto [rank, peer] = pair;
  // The writer must read its source, which takes half of the time of a copy of its own data.
  const double had_ns = costs.move_ns(bytes, data.sources_bytes, memory::CopyKernel::plain) / 2;
  const double show_ns = costs.show_ns(bytes, buffers_bytes, rank, peer, method);
  return {costs.in_turns_ns(std::max(had_ns, show_ns), at_once.writers),
          std::max(costs.read_share_ns(bytes, of_bytes, peer, rank, at_once.readers - 1, method),
                   results_ns)};
}

// A block that is sent in tiles.
struct Tiles {
  double count = 1;
  // Number of times that the channel becomes full; used for the order as_ready.
  double channelfuls = 1;
  Moved each;
  // Time in which the writer prefetches the lines of the next block after it has sent this one.
  double asking_ns = 0;

  double ns() const { return count * (each.write_ns + each.read_ns); }
};
Tiles tiles_of(const Costs& costs, int cells, const Request& request, const AtOnce& at_once,
               const PairExchange::Plan& plan) {
  const std::size_t all = std::max<std::size_t>(request.bytes, 1);
  const std::size_t tile = std::min(plan.tile_bytes, all);
  // Size of the buffers in use before the first cell is reused: those of one channel. With the
  // order as_ready, or if a block fits into one channel, it is that of the channels to all peers.
  const std::size_t channel = static_cast<std::size_t>(cells) * tile;
  const bool stays_in_channel = all > channel && plan.order != Order::as_ready;
  const std::size_t buffers =
      stays_in_channel ? channel
                       : std::min(channel, all) * static_cast<std::size_t>(costs.ranks() - 1);
  const double count = ceil_div(all, tile);
  const auto by = [&](memory::CopyMethod method) {
    return moved(costs, farthest(costs), {tile, all, buffers}, at_once, method,
                 data_of(costs, request, plan.results, buffers));
  };
  Tiles tiles{count, std::ceil(count / cells), by(plan.method)};
  if (plan.method->ownership != memory::LineOwnership::prefetched) return tiles;
  // Only the lines of `ahead` tiles are prefetched; the others cost the same as without prefetch.
  const double ahead = node::PairChannels::asked_ahead(static_cast<context::Sequence>(count),
                                                       static_cast<context::Sequence>(cells));
  const double unasked_ns = by(plan.method.where_readers_share()).write_ns;
  tiles.asking_ns = ahead * (unasked_ns - tiles.each.write_ns);
  tiles.each.write_ns = unasked_ns - tiles.asking_ns / count;
  return tiles;
}

std::string_view name(SlotExchange::Order order) {
  switch (order) {
    case SlotExchange::Order::ring:
      return "in a ring";
    case SlotExchange::Order::neighbor_exchange:
      return "neighbours first";
  }
  return {};
}

std::string_view name(PairExchange::Order order) {
  switch (order) {
    case PairExchange::Order::paired:
      return "paired";
    case PairExchange::Order::staggered:
      return "staggered";
    case PairExchange::Order::as_ready:
      return "as ready";
  }
  return {};
}

// Orders in which pairs exchange data, and the copy methods that each order allows.
struct Ways {
  std::span<const Order> orders;
  CopyMethods lines;
};
// Lines are passed back and forth only if both ranks of a pair exchange data at the same time.
constexpr Order mutual_orders[] = {Order::paired, Order::as_ready};
constexpr Order one_way_orders[] = {Order::staggered};
constexpr Ways ways_of_all[] = {{mutual_orders, memory::both_ways},
                                {one_way_orders, memory::to_one_reader}};
// The root is in every pair, and serves one peer after the other.
constexpr Order orders_of_root[] = {Order::staggered, Order::as_ready};
constexpr Ways ways_of_root[] = {{orders_of_root, memory::to_one_reader},
                                 {orders_of_root, memory::one_way}};
// The blocks of a pair may differ in size, so a writer cannot rely on getting its lines back.
constexpr Order orders_of_uneven[] = {Order::as_ready};
constexpr Ways ways_of_uneven[] = {{orders_of_uneven, memory::to_one_reader}};
// Methods with prefetch come first. Few lines are prefetched, so large blocks cost the same
// without.
constexpr Ways ways_of_uneven_root[] = {{orders_of_uneven, memory::one_way},
                                        {orders_of_uneven, memory::to_one_reader}};

// Adds plans for pairs; price(plan) predicts their times.
template <class Price>
void add_pairs(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
               const Request& request, std::span<const Ways> ways, memory::CopyKernel results,
               Price price) {
  const auto& parameters = resources.pair_exchange;
  const int far = costs.farthest_from(0);
  for (const std::size_t tile : piece_sizes(request.bytes, parameters.tile_bytes)) {
    const std::size_t buffers = static_cast<std::size_t>(parameters.cells) * tile;
    for (const auto& [orders, lines] : ways) {
      // Data behind a flag have no line of their own, so there is nothing to prefetch and no choice
      // of method.
      const bool is_in_line = node::fits_behind_flag(tile);
      if (is_in_line && lines.front()->ownership == memory::LineOwnership::prefetched) continue;
      const auto method =
          is_in_line ? lines.front()
                     : costs.block_copy_method_for({tile, request.bytes, buffers}, 0, far, lines);
      for (const Order order : orders) {
        const PairExchange::Plan plan{tile, order, method, results};
        list.push_back({plan,
                        fmt::format("tiles of {}, {}, {}{}", size_text(static_cast<double>(tile)),
                                    name(order), memory::name(method), text_of_results(results)),
                        price(plan)});
      }
    }
  }
}

void add_slots_allgather(std::vector<Candidate>& list, const Costs& costs,
                         const TeamResources& resources, const Request& request) {
  const int far = costs.farthest_from(0);
  const std::size_t capacity = resources.slot_exchange.capacity_bytes;
  const memory::CopyKernel results = kernel_of_results(costs, request);
  const CopyMethods lines = costs.shown_to_all(memory::both_ways);
  for (const std::size_t round : piece_sizes(request.bytes, capacity)) {
    const auto method = costs.block_copy_method_for(
        {round, request.bytes, SlotExchange::slots * round}, 0, far, lines);
    for (const auto order : {SlotExchange::Order::ring, SlotExchange::Order::neighbor_exchange}) {
      const SlotExchange::Plan plan{round, order, method, results};
      list.push_back({plan,
                      fmt::format("rounds of {}, {}, {}{}", size_text(static_cast<double>(round)),
                                  name(order), memory::name(method), text_of_results(results)),
                      slots_allgather_ns(costs, request, plan)});
    }
  }
}

void add_doubling(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                  const Request& request) {
  const auto ranks = static_cast<std::size_t>(costs.ranks());
  if (request.bytes > resources.doubling_exchange.capacity_bytes / ranks) return;
  const std::size_t all = ranks * request.bytes;
  const DoublingExchange::Plan plan{
      costs.block_copy_method_for({all / 2, all / 2, DoublingExchange::calls_in_flight * all}, 0,
                                  costs.farthest_from(0), memory::to_one_reader),
      all};
  list.push_back({plan, std::string(memory::name(plan.method)), doubling_ns(costs, request, plan)});
}

void add_slots_alltoall(std::vector<Candidate>& list, const Costs& costs,
                        const TeamResources& resources, const Request& request) {
  const std::size_t capacity = resources.slot_exchange.capacity_bytes;
  const auto ranks = static_cast<std::size_t>(costs.ranks());
  if (request.bytes > capacity / ranks) return;
  const std::size_t small = resources.small.slot_exchange.capacity_bytes;
  const std::size_t slot = request.bytes <= small / ranks ? small : capacity;
  const SlotExchange::Plan plan{slot, SlotExchange::Order::ring,
                                costs.ranks() == 2 ? memory::by_ping_pong : memory::CopyMethod(),
                                kernel_of_results(costs, request)};
  list.push_back({plan, "one slot for all blocks" + text_of_results(plan.results),
                  slots_alltoall_ns(costs, request, plan)});
}

void add_slots_gather(std::vector<Candidate>& list, const Costs& costs,
                      const TeamResources& resources, const Request& request) {
  const std::size_t capacity = resources.rooted_exchange.capacity_bytes;
  const memory::CopyKernel results = kernel_of_results(costs, request);
  for (const std::size_t round : piece_sizes(request.bytes, capacity)) {
    const std::size_t buffers = PublishedRounds::slots * round;
    // Data behind a flag have no line of their own.
    const auto method =
        node::fits_behind_flag(round)
            ? memory::CopyMethod()
            : costs.block_copy_method_for({round, request.bytes, buffers}, 0,
                                          costs.farthest_from(0), memory::to_one_reader);
    const RootedExchange::Plan plan{round, method, results};
    list.push_back({plan,
                    fmt::format("rounds of {}, {}{}", size_text(static_cast<double>(round)),
                                memory::name(method), text_of_results(results)),
                    slots_gather_ns(costs, request, plan)});
  }
}

void add_slots_scatter(std::vector<Candidate>& list, const Costs& costs,
                       const TeamResources& resources, const Request& request) {
  const std::size_t capacity = resources.rooted_exchange.capacity_bytes;
  const auto others = static_cast<std::size_t>(costs.ranks() - 1);
  if (request.bytes > capacity / others) return;
  const std::size_t small = resources.small.rooted_exchange.capacity_bytes;
  const std::size_t slot = request.bytes <= small / others ? small : capacity;
  const RootedExchange::Plan plan{slot, {}, kernel_of_results(costs, request)};
  list.push_back({plan, "one slot for all blocks" + text_of_results(plan.results),
                  slots_scatter_ns(costs, request, plan)});
}

void add_pairs_alltoall(std::vector<Candidate>& list, const Costs& costs,
                        const TeamResources& resources, const Request& request) {
  add_pairs(list, costs, resources, request, ways_of_all, kernel_of_results(costs, request),
            [&](const PairExchange::Plan& plan) {
              return pairs_alltoall_ns(costs, resources.pair_exchange.cells, request, plan);
            });
}

void add_pairs_rooted(std::vector<Candidate>& list, const Costs& costs,
                      const TeamResources& resources, const Request& request) {
  add_pairs(list, costs, resources, request, ways_of_root, kernel_of_results(costs, request),
            [&](const PairExchange::Plan& plan) {
              return pairs_rooted_ns(costs, resources.pair_exchange.cells, request, plan);
            });
}

void add_pairs_uneven(std::vector<Candidate>& list, const Costs& costs,
                      const TeamResources& resources, const Request& request) {
  list.push_back(uneven_candidate(costs, resources, request));
}

}  // namespace

double own_ns(const Costs& costs, const Request& request, memory::CopyKernel results) {
  return costs.own_ns(request.bytes, bytes_of_fullest(costs, request), results);
}

// In each round every rank publishes its data, waits for the flags of all others, and reads the
// data of all others while they read as well.
double slots_allgather_ns(const Costs& costs, const Request& request,
                          const SlotExchange::Plan& plan) {
  const std::size_t least = std::max<std::size_t>(request.bytes, 1);
  const std::size_t round = std::min(plan.round_bytes, least);
  const int others = costs.ranks() - 1;
  const AtOnce all{costs.ranks(), costs.ranks()};
  const std::size_t buffers = SlotExchange::slots * round;
  const Data data = data_of(costs, request, plan.results, buffers);
  const Moved one = moved(costs, farthest(costs), {round, least, buffers}, all, plan.method, data);
  return costs.own_ns(request.bytes, data.results_bytes, plan.results) +
         ceil_div(least, round) *
             (one.write_ns + costs.synchronization_ns() + others * one.read_ns);
}

namespace {

// Returns the rank that is farthest from the peer `distance` ranks after it, with that peer.
Pair farthest_at(const Costs& costs, int distance) {
  const auto pair_of = [&](int rank) { return Pair{rank, (rank + distance) % costs.ranks()}; };
  Pair farthest = pair_of(0);
  for (int rank = 1; rank < costs.ranks(); ++rank) {
    const Pair pair = pair_of(rank);
    if (costs.line_ns(pair.peer, rank) > costs.line_ns(farthest.peer, farthest.rank)) {
      farthest = pair;
    }
  }
  return farthest;
}

}  // namespace

// In each round every rank writes a message, waits for the flag of another, and reads that one.
double doubling_ns(const Costs& costs, const Request& request, const DoublingExchange::Plan& plan) {
  const std::size_t least = std::max<std::size_t>(request.bytes, 1);
  const std::size_t buffers =
      DoublingExchange::calls_in_flight * least * static_cast<std::size_t>(costs.ranks());
  const AtOnce all{costs.ranks(), costs.ranks()};
  const Data data = data_of(costs, request, memory::CopyKernel::plain, buffers);
  double sum = own_ns(costs, request, data.results);
  for (const auto& [distance, blocks] : DoublingExchange::rounds(costs.ranks())) {
    const auto [rank, peer] = farthest_at(costs, distance);
    const std::size_t message = least * static_cast<std::size_t>(blocks);
    const Moved one =
        moved(costs, {rank, peer}, {message, message, buffers}, all, plan.method, data);
    sum += one.write_ns + costs.flags_ns({&peer, 1}, rank, 1) + one.read_ns;
  }
  return sum;
}

double slots_alltoall_ns(const Costs& costs, const Request& request,
                         const SlotExchange::Plan& plan) {
  const std::size_t least = std::max<std::size_t>(request.bytes, 1);
  const auto ranks = static_cast<std::size_t>(costs.ranks());
  const std::size_t all = ranks * least;
  const std::size_t buffers = SlotExchange::slots * all;
  const Data data = data_of(costs, request, plan.results, buffers);
  const double little_ns = own_ns(costs, request, plan.results) + costs.synchronization_ns();
  if (node::fits_behind_flag(all)) return little_ns;
  const Moved shown = moved(costs, farthest(costs), {all - least, all - least, buffers},
                            {costs.ranks(), 1}, plan.method, data);
  const int far = costs.farthest_from(0);
  // Blocks are requested only after the flags have arrived, so that nothing hides the latency of
  // the first line.
  const double read_ns = std::max(costs.rest_ns(least + node::line_bytes, far, 0),
                                  costs.move_ns(least, data.results_bytes, data.results));
  return little_ns + shown.write_ns + costs.read_ns(node::line_bytes, far, 0, 0) +
         costs.by_all_ns((costs.ranks() - 1) * read_ns);
}

// In each round all ranks but the root publish their data, and the root waits for their flags and
// reads them. A rank that writes to a slot first reads the root's flag.
double slots_gather_ns(const Costs& costs, const Request& request,
                       const RootedExchange::Plan& plan) {
  const std::size_t least = std::max<std::size_t>(request.bytes, 1);
  const std::size_t round = std::min(plan.round_bytes, least);
  const std::vector<int> others = costs.others_than(0);
  const int peers = costs.ranks() - 1;
  const std::size_t buffers = PublishedRounds::slots * round;
  const Moved one =
      moved(costs, farthest(costs), {round, least, buffers}, {.writers = peers, .readers = 1},
            plan.method, data_of(costs, request, plan.results, buffers));
  const double reuse_ns =
      node::fits_behind_flag(round) ? 0 : costs.written_line_ns(0, costs.farthest_from(0));
  return own_ns(costs, request, plan.results) +
         ceil_div(least, round) *
             (reuse_ns + one.write_ns + costs.flags_to_first_ns() + peers * one.read_ns);
}

// All other ranks read the flag of the root, and then their blocks. Before the root writes to a
// slot, it reads the flags of all others.
double slots_scatter_ns(const Costs& costs, const Request& request,
                        const RootedExchange::Plan& plan) {
  const std::size_t least = std::max<std::size_t>(request.bytes, 1);
  const std::vector<int> others = costs.others_than(0);
  const int peers = costs.ranks() - 1;
  const std::size_t all = least * others.size();
  const std::size_t buffers = PublishedRounds::slots * all;
  const Data data = data_of(costs, request, plan.results, buffers);
  const AtOnce at_once{.writers = 1, .readers = peers};
  const Moved shown =
      moved(costs, farthest(costs), {all, all, buffers}, at_once, plan.method, data);
  const double flag_ns = own_ns(costs, request, plan.results) + costs.line_to_ns(0, others);
  const double results_ns =
      costs.in_turns_ns(costs.move_ns(least, data.results_bytes, data.results), peers);
  if (node::fits_behind_flag(all)) return flag_ns + results_ns;
  const double read_ns = costs.read_ns(least, 0, costs.farthest_from(0), peers - 1, plan.method);
  return costs.flags_to_first_ns() + shown.write_ns + flag_ns + std::max(read_ns, results_ns);
}

// Pairs take turns. In each turn both ranks write and read all tiles and wait for each other's
// flags. With the order as_ready, all tiles that fit into the channels are transferred at the same
// time.
double pairs_alltoall_ns(const Costs& costs, int cells, const Request& request,
                         const PairExchange::Plan& plan) {
  const Tiles tiles = tiles_of(costs, cells, request, {costs.ranks(), costs.ranks()}, plan);
  const int far = costs.farthest_from(0);
  const auto others = static_cast<double>(costs.ranks() - 1);
  const double line_ns = costs.line_ns(far, 0);
  // With the order `paired`, a rank may be without a peer in one of the turns.
  const bool idles = plan.order == PairExchange::Order::paired && costs.ranks() > 2;
  const double turns = idles ? others + 1 : others;
  const double moves_ns = own_ns(costs, request, plan.results) + turns * tiles.ns();
  if (plan.order != Order::as_ready) return moves_ns + turns * tiles.count * line_ns;
  return moves_ns + tiles.channelfuls * costs.flags_to_first_ns() +
         turns * (tiles.count - tiles.channelfuls) * costs.written_line_ns(far, 0);
}

double pairs_rooted_ns(const Costs& costs, int cells, const Request& request,
                       const PairExchange::Plan& plan) {
  const bool to_root = gathers_at_root(request.operation);
  const std::vector<int> others = costs.others_than(0);
  const int peers = costs.ranks() - 1;
  const AtOnce at_once =
      to_root ? AtOnce{.writers = peers, .readers = 1} : AtOnce{.writers = 1, .readers = peers};
  const Tiles tiles = tiles_of(costs, cells, request, at_once, plan);
  const auto turns = static_cast<double>(others.size());
  const double root_ns = to_root ? tiles.each.read_ns : tiles.each.write_ns;
  const double peer_ns = to_root ? tiles.each.write_ns : tiles.each.read_ns;
  // The root stores a flag for each peer. The stores wait for the lines while it writes data.
  const double stores_ns =
      std::max(0.0, costs.queued_stores_ns(0, others) - turns * tiles.each.write_ns);
  const double flags_ns =
      to_root ? costs.flags_to_first_ns() : costs.line_ns(0, costs.farthest_from(0)) + stores_ns;
  // If the root is the bottleneck, it moves all data, before or after one tile of a peer. If a tile
  // takes a peer longer than the root needs for a tile of each peer, a peer moves all its data,
  // before or after one tile of the root.
  const double moved_ns =
      std::max(turns * tiles.count * root_ns + peer_ns, root_ns + tiles.count * peer_ns);
  // The first tiles' flags are transferred at the same time. Each later tile has a flag of its own:
  // the receiver waits for it, or with the order as_ready finds it written.
  const int far = costs.farthest_from(0);
  const bool is_there = plan.order == Order::as_ready;
  const double waits_ns = is_there ? (tiles.channelfuls - 1) * flags_ns : 0;
  const double later = is_there ? tiles.count - tiles.channelfuls : tiles.count - 1;
  const double line_ns = is_there ? costs.written_line_ns(far, 0) : costs.line_ns(far, 0);
  const double more_ns = waits_ns + turns * later * line_ns;
  // While others read, a rank that has finished sending prefetches lines.
  const double senders_ns =
      (to_root ? 1 : turns) * (tiles.count * tiles.each.write_ns + tiles.asking_ns);
  return own_ns(costs, request, plan.results) + std::max(senders_ns, flags_ns + moved_ns + more_ns);
}

std::vector<Algorithm> allgather_algorithms(const TeamResources& resources) {
  const auto capacity = static_cast<double>(resources.doubling_exchange.capacity_bytes);
  return {
      described<SlotExchange::Plan>("", add_slots_allgather),
      described<DoublingExchange::Plan>(
          fmt::format("at most {} for all blocks together", size_text(capacity)), add_doubling)};
}

std::vector<Algorithm> alltoall_algorithms(const TeamResources& resources) {
  const auto capacity = static_cast<double>(resources.slot_exchange.capacity_bytes);
  return {described<SlotExchange::Plan>(
              fmt::format("equal blocks, at most {} for all blocks of a rank", size_text(capacity)),
              add_slots_alltoall),
          described<PairExchange::Plan>("", add_pairs_alltoall)};
}

std::vector<Algorithm> gather_algorithms() {
  return {described<RootedExchange::Plan>("equal blocks", add_slots_gather),
          described<PairExchange::Plan>("", add_pairs_rooted), announced_algorithm()};
}

std::vector<Algorithm> scatter_algorithms(const TeamResources& resources) {
  const auto capacity = static_cast<double>(resources.rooted_exchange.capacity_bytes);
  return {described<RootedExchange::Plan>(
              fmt::format("equal blocks, at most {} for all other ranks", size_text(capacity)),
              add_slots_scatter),
          described<PairExchange::Plan>("", add_pairs_rooted), announced_algorithm()};
}

double pairs_uneven_ns(const Costs& costs, int cells, const Request& request,
                       const PairExchange::Plan& plan) {
  PairExchange::Plan of_call = plan;
  of_call.results = kernel_of_results(costs, request);
  return is_rooted(request.operation) ? pairs_rooted_ns(costs, cells, request, of_call)
                                      : pairs_alltoall_ns(costs, cells, request, of_call);
}

namespace {

// Returns the size of a rank's output from which non-temporal stores are faster. A rank knows only
// the size of its own output: it assumes that the others receive the same amount, or in a gather
// that they receive nothing.
std::size_t nontemporal_from(const Costs& costs, Operation operation) {
  constexpr std::size_t largest = std::size_t{1} << 30;
  const bool all_get_some = !gathers_at_root(operation);
  const auto all_bytes = [&](std::size_t gotten) {
    return 2 * gotten * static_cast<std::size_t>(all_get_some ? costs.ranks() : 1);
  };
  std::size_t from = PairExchange::Plan::never;
  for (std::size_t gotten = largest; gotten >= node::page_bytes; gotten /= 2) {
    if (costs.kernel_of_results(all_bytes(gotten)) == memory::CopyKernel::plain) break;
    from = gotten;
  }
  return from;
}

}  // namespace

// The plan that is best for large blocks also serves small ones: a small block is a single small
// tile under any plan and is sent first.
Candidate uneven_candidate(const Costs& costs, const TeamResources& resources,
                           const Request& request) {
  const int cells = resources.pair_exchange.cells;
  const std::size_t much = 2 * static_cast<std::size_t>(cells) * resources.pair_exchange.tile_bytes;
  const Request of_much{request.operation, much, 1};
  std::vector<Candidate> tilings;
  add_pairs(tilings, costs, resources, of_much,
            is_rooted(request.operation) ? std::span<const Ways>(ways_of_uneven_root)
                                         : std::span<const Ways>(ways_of_uneven),
            memory::CopyKernel::plain, [&](const PairExchange::Plan& plan) {
              return pairs_uneven_ns(costs, cells, of_much, plan);
            });
  Candidate chosen = cheapest(tilings);
  auto& plan = std::get<PairExchange::Plan>(chosen.plan);
  plan.nontemporal_from = nontemporal_from(costs, request.operation);
  if (plan.nontemporal_from != PairExchange::Plan::never) {
    chosen.parameters += fmt::format(", non-temporal stores from {} on",
                                     size_text(static_cast<double>(plan.nontemporal_from)));
  }
  chosen.ns = pairs_uneven_ns(costs, cells, request, plan);
  return chosen;
}

Algorithm uneven_algorithm() { return described<PairExchange::Plan>("", add_pairs_uneven); }

}  // namespace huddle::select

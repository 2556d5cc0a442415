// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The exchanges, as they describe themselves.
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
using node::SlotExchange;
using Order = PairExchange::Order;

// How many ranks write at the same time, and how many read.
struct AtOnce {
  int writers = 1;
  int readers = 1;
};

bool is_rooted(Operation operation) {
  return gathers_at_root(operation) || scatters_from_root(operation);
}

// So much as all together had if each had as much as the fullest: a root has blocks for all, and
// its processor's caches those of nobody else.
std::size_t bytes_of_fullest(const Prices& prices, const Request& request) {
  const std::size_t all = data_bytes(request, prices.ranks());
  if (!is_rooted(request.operation)) return all;
  const auto blocks = static_cast<std::size_t>(prices.ranks()) + 1;
  return std::max(all, prices.if_every_processor_had(blocks * request.bytes));
}

// What is moved: of so much that all have together where it comes from, and where it goes; by which
// kernel the results are written.
struct Data {
  std::size_t sources_bytes = 0;
  std::size_t results_bytes = 0;
  memory::CopyKernel results = memory::CopyKernel::plain;
};
// The buffers that it passes through, so much a rank, are in the caches, too.
Data data_of(const Prices& prices, const Request& request, memory::CopyKernel results,
             std::size_t buffers_bytes) {
  const std::size_t buffers = static_cast<std::size_t>(prices.ranks()) * buffers_bytes;
  const std::size_t evenly = data_bytes(request, prices.ranks());
  const std::size_t of_fullest = bytes_of_fullest(prices, request);
  return {(gathers_at_root(request.operation) ? evenly : of_fullest) + buffers,
          (scatters_from_root(request.operation) ? evenly : of_fullest) + buffers, results};
}
memory::CopyKernel kernel_of_results(const Prices& prices, const Request& request) {
  return prices.kernel_of_results(data_bytes(request, prices.ranks()));
}
std::string text_of_results(memory::CopyKernel results) {
  return results == memory::CopyKernel::nontemporal ? ", past the caches" : "";
}

// A rank, and whoever it reads from and writes for.
struct Pair {
  int rank = 0;
  int peer = 0;
};
// Where every rank meets every other.
Pair farthest(const Prices& prices) { return {0, prices.farthest_from(0)}; }

// What one rank writes and another reads: what rides in the flag's line comes with it.
struct Moved {
  double write_ns = 0;
  double read_ns = 0;
};
Moved moved(const Prices& prices, const Pair& pair, const Piece& piece, const AtOnce& at_once,
            memory::CopyMethod method, const Data& data) {
  const auto [bytes, of_bytes, buffers_bytes] = piece;
  const double results_ns =
      prices.in_turns_ns(prices.move_ns(bytes, data.results_bytes, data.results), at_once.readers);
  if (node::fits_behind_flag(bytes)) return {0, results_ns};
  const auto [rank, peer] = pair;
  // What is shown has to come from where the rank has it: half of what a copy of its own moves.
  const double had_ns = prices.move_ns(bytes, data.sources_bytes, memory::CopyKernel::plain) / 2;
  const double show_ns = prices.show_ns(bytes, buffers_bytes, rank, peer, method);
  return {prices.in_turns_ns(std::max(had_ns, show_ns), at_once.writers),
          std::max(prices.read_share_ns(bytes, of_bytes, peer, rank, at_once.readers - 1, method),
                   results_ns)};
}

// A block in tiles.
struct Tiles {
  double count = 1;
  // Where it goes on with whoever is ready: how often a channel is full.
  double channelfuls = 1;
  Moved each;
  // What its writer takes to ask for the lines of the next, when it has sent this one.
  double asking_ns = 0;

  double ns() const { return count * (each.write_ns + each.read_ns); }
};
Tiles tiles_of(const Prices& prices, int cells, const Request& request, const AtOnce& at_once,
               const PairExchange::Plan& plan) {
  const std::size_t all = std::max<std::size_t>(request.bytes, 1);
  const std::size_t tile = std::min(plan.tile_bytes, all);
  // Of a channel so much is used before the first cell is used again; where a rank goes on with
  // whoever is ready, and where there is no more, after that of all others.
  const std::size_t channel = static_cast<std::size_t>(cells) * tile;
  const bool stays_in_channel = all > channel && plan.order != Order::as_ready;
  const std::size_t buffers =
      stays_in_channel ? channel
                       : std::min(channel, all) * static_cast<std::size_t>(prices.ranks() - 1);
  const double count = ceil_div(all, tile);
  const auto by = [&](memory::CopyMethod method) {
    return moved(prices, farthest(prices), {tile, all, buffers}, at_once, method,
                 data_of(prices, request, plan.results, buffers));
  };
  Tiles tiles{count, std::ceil(count / cells), by(plan.method)};
  if (plan.method->ownership != memory::LineOwnership::prefetched) return tiles;
  // Only those were asked for; others are as though nobody ever did.
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

// In which orders pairs may meet, and what may become of their lines.
struct Ways {
  std::span<const Order> orders;
  CopyMethods lines;
};
// Lines go to and fro where both of a pair turn to each other.
constexpr Order mutual_orders[] = {Order::paired, Order::as_ready};
constexpr Order one_way_orders[] = {Order::staggered};
constexpr Ways ways_of_all[] = {{mutual_orders, memory::both_ways},
                                {one_way_orders, memory::to_one_reader}};
// One of a pair is always the root: it goes from one to the next.
constexpr Order orders_of_root[] = {Order::staggered, Order::as_ready};
constexpr Ways ways_of_root[] = {{orders_of_root, memory::to_one_reader},
                                 {orders_of_root, memory::one_way}};
// What pairs have for each other may differ; so nobody can count on its lines' coming back.
constexpr Order orders_of_uneven[] = {Order::as_ready};
constexpr Ways ways_of_uneven[] = {{orders_of_uneven, memory::to_one_reader}};
// Little is asked for, and much costs the same.
constexpr Ways ways_of_uneven_root[] = {{orders_of_uneven, memory::one_way},
                                        {orders_of_uneven, memory::to_one_reader}};

// Plans for pairs, at their price by `price(plan)`.
template <class Price>
void add_pairs(std::vector<Candidate>& list, const Prices& prices, const TeamResources& resources,
               const Request& request, std::span<const Ways> ways, memory::CopyKernel results,
               Price price) {
  const auto& parameters = resources.pair_exchange;
  const int far = prices.farthest_from(0);
  for (const std::size_t tile : piece_sizes(request.bytes, parameters.tile_bytes)) {
    const std::size_t buffers = static_cast<std::size_t>(parameters.cells) * tile;
    for (const auto& [orders, lines] : ways) {
      // What comes behind a flag has no line of its own, to be asked for or copied otherwise.
      const bool is_in_line = node::fits_behind_flag(tile);
      if (is_in_line && lines.front()->ownership == memory::LineOwnership::prefetched) continue;
      const auto method =
          is_in_line ? lines.front()
                     : prices.block_copy_method_for({tile, request.bytes, buffers}, 0, far, lines);
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

void add_slots_allgather(std::vector<Candidate>& list, const Prices& prices,
                         const TeamResources& resources, const Request& request) {
  const int far = prices.farthest_from(0);
  const std::size_t capacity = resources.slot_exchange.capacity_bytes;
  const memory::CopyKernel results = kernel_of_results(prices, request);
  const CopyMethods lines = prices.shown_to_all(memory::both_ways);
  for (const std::size_t round : piece_sizes(request.bytes, capacity)) {
    const auto method = prices.block_copy_method_for(
        {round, request.bytes, SlotExchange::slots * round}, 0, far, lines);
    for (const auto order : {SlotExchange::Order::ring, SlotExchange::Order::neighbor_exchange}) {
      const SlotExchange::Plan plan{round, order, method, results};
      list.push_back({plan,
                      fmt::format("rounds of {}, {}, {}{}", size_text(static_cast<double>(round)),
                                  name(order), memory::name(method), text_of_results(results)),
                      slots_allgather_ns(prices, request, plan)});
    }
  }
}

void add_doubling(std::vector<Candidate>& list, const Prices& prices,
                  const TeamResources& resources, const Request& request) {
  const auto ranks = static_cast<std::size_t>(prices.ranks());
  if (request.bytes > resources.doubling_exchange.capacity_bytes / ranks) return;
  const std::size_t all = ranks * request.bytes;
  const DoublingExchange::Plan plan{
      prices.block_copy_method_for({all / 2, all / 2, DoublingExchange::calls_in_flight * all}, 0,
                                   prices.farthest_from(0), memory::to_one_reader)};
  list.push_back(
      {plan, std::string(memory::name(plan.method)), doubling_ns(prices, request, plan)});
}

void add_slots_alltoall(std::vector<Candidate>& list, const Prices& prices,
                        const TeamResources& resources, const Request& request) {
  const std::size_t capacity = resources.slot_exchange.capacity_bytes;
  const auto ranks = static_cast<std::size_t>(prices.ranks());
  if (request.bytes > capacity / ranks) return;
  const SlotExchange::Plan plan{capacity, SlotExchange::Order::ring,
                                prices.ranks() == 2 ? memory::by_ping_pong : memory::CopyMethod(),
                                kernel_of_results(prices, request)};
  list.push_back({plan, "a slot for all" + text_of_results(plan.results),
                  slots_alltoall_ns(prices, request, plan)});
}

void add_pairs_alltoall(std::vector<Candidate>& list, const Prices& prices,
                        const TeamResources& resources, const Request& request) {
  add_pairs(list, prices, resources, request, ways_of_all, kernel_of_results(prices, request),
            [&](const PairExchange::Plan& plan) {
              return pairs_alltoall_ns(prices, resources.pair_exchange.cells, request, plan);
            });
}

void add_pairs_rooted(std::vector<Candidate>& list, const Prices& prices,
                      const TeamResources& resources, const Request& request) {
  add_pairs(list, prices, resources, request, ways_of_root, kernel_of_results(prices, request),
            [&](const PairExchange::Plan& plan) {
              return pairs_rooted_ns(prices, resources.pair_exchange.cells, request, plan);
            });
}

void add_pairs_uneven(std::vector<Candidate>& list, const Prices& prices,
                      const TeamResources& resources, const Request& request) {
  list.push_back(uneven_candidate(prices, resources, request));
}

}  // namespace

double own_ns(const Prices& prices, const Request& request, memory::CopyKernel results) {
  return prices.own_ns(request.bytes, bytes_of_fullest(prices, request), results);
}

// Each round: it is shown, everybody's flag is waited for, and everybody's data are read while all
// others read as well.
double slots_allgather_ns(const Prices& prices, const Request& request,
                          const SlotExchange::Plan& plan) {
  const std::size_t least = std::max<std::size_t>(request.bytes, 1);
  const std::size_t round = std::min(plan.round_bytes, least);
  const int others = prices.ranks() - 1;
  const AtOnce all{prices.ranks(), prices.ranks()};
  const std::size_t buffers = SlotExchange::slots * round;
  const Data data = data_of(prices, request, plan.results, buffers);
  const Moved one =
      moved(prices, farthest(prices), {round, least, buffers}, all, plan.method, data);
  return prices.own_ns(request.bytes, data.results_bytes, plan.results) +
         ceil_div(least, round) * (one.write_ns + prices.meeting_ns() + others * one.read_ns);
}

namespace {

// Who reads from the rank so far after it, where that takes longest.
Pair farthest_at(const Prices& prices, int distance) {
  const auto pair_of = [&](int rank) { return Pair{rank, (rank + distance) % prices.ranks()}; };
  Pair farthest = pair_of(0);
  for (int rank = 1; rank < prices.ranks(); ++rank) {
    const Pair pair = pair_of(rank);
    if (prices.line_ns(pair.peer, rank) > prices.line_ns(farthest.peer, farthest.rank)) {
      farthest = pair;
    }
  }
  return farthest;
}

}  // namespace

// Each round: all write a message and read one, whose flag is waited for.
double doubling_ns(const Prices& prices, const Request& request,
                   const DoublingExchange::Plan& plan) {
  const std::size_t least = std::max<std::size_t>(request.bytes, 1);
  const std::size_t buffers =
      DoublingExchange::calls_in_flight * least * static_cast<std::size_t>(prices.ranks());
  const AtOnce all{prices.ranks(), prices.ranks()};
  const Data data = data_of(prices, request, memory::CopyKernel::plain, buffers);
  double sum = own_ns(prices, request, data.results);
  for (const auto& [distance, blocks] : DoublingExchange::rounds(prices.ranks())) {
    const auto [rank, peer] = farthest_at(prices, distance);
    const std::size_t message = least * static_cast<std::size_t>(blocks);
    const Moved one =
        moved(prices, {rank, peer}, {message, message, buffers}, all, plan.method, data);
    sum += one.write_ns + prices.flags_ns({&peer, 1}, rank, 1) + one.read_ns;
  }
  return sum;
}

double slots_alltoall_ns(const Prices& prices, const Request& request,
                         const SlotExchange::Plan& plan) {
  const std::size_t least = std::max<std::size_t>(request.bytes, 1);
  const auto ranks = static_cast<std::size_t>(prices.ranks());
  const std::size_t all = ranks * least;
  const std::size_t buffers = SlotExchange::slots * all;
  const Data data = data_of(prices, request, plan.results, buffers);
  const double little_ns = own_ns(prices, request, plan.results) + prices.meeting_ns();
  if (node::fits_behind_flag(all)) return little_ns;
  const Moved shown = moved(prices, farthest(prices), {all - least, all - least, buffers},
                            {prices.ranks(), 1}, plan.method, data);
  const int far = prices.farthest_from(0);
  // Blocks are asked for after the flags: of these ways nothing hides the first.
  const double read_ns = std::max(prices.rest_ns(least + node::line_bytes, far, 0),
                                  prices.move_ns(least, data.results_bytes, data.results));
  return little_ns + shown.write_ns + prices.read_ns(node::line_bytes, far, 0, 0) +
         prices.by_all_ns((prices.ranks() - 1) * read_ns);
}

// Pairs take turns: in each, both write and read all tiles, and wait for each other's flags.
// Where a rank goes on with whoever is ready, those of all that fit into the channels are on their
// way at once.
double pairs_alltoall_ns(const Prices& prices, int cells, const Request& request,
                         const PairExchange::Plan& plan) {
  const Tiles tiles = tiles_of(prices, cells, request, {prices.ranks(), prices.ranks()}, plan);
  const int far = prices.farthest_from(0);
  const auto others = static_cast<double>(prices.ranks() - 1);
  const double line_ns = prices.line_ns(far, 0);
  // In pairs of which both turn to each other there is a turn, now and then, with nobody.
  const bool idles = plan.order == PairExchange::Order::paired && prices.ranks() > 2;
  const double turns = idles ? others + 1 : others;
  const double moves_ns = own_ns(prices, request, plan.results) + turns * tiles.ns();
  if (plan.order != Order::as_ready) return moves_ns + turns * tiles.count * line_ns;
  return moves_ns + tiles.channelfuls * prices.flags_ns(prices.others_than(0), 0, 1) +
         turns * (tiles.count - tiles.channelfuls) * prices.written_line_ns(far, 0);
}

double pairs_rooted_ns(const Prices& prices, int cells, const Request& request,
                       const PairExchange::Plan& plan) {
  const bool to_root = gathers_at_root(request.operation);
  const std::vector<int> others = prices.others_than(0);
  const int peers = prices.ranks() - 1;
  const AtOnce at_once =
      to_root ? AtOnce{.writers = peers, .readers = 1} : AtOnce{.writers = 1, .readers = peers};
  const Tiles tiles = tiles_of(prices, cells, request, at_once, plan);
  const auto turns = static_cast<double>(others.size());
  const double root_ns = to_root ? tiles.each.read_ns : tiles.each.write_ns;
  const double peer_ns = to_root ? tiles.each.write_ns : tiles.each.read_ns;
  const double flags_ns =
      to_root ? prices.flags_ns(others, 0, 1) : prices.line_ns(0, prices.farthest_from(0));
  // All that the root moves and a peer's first or last tile, or all that a peer moves and the
  // root's one, where a tile takes a peer longer than the root all the others'.
  const double moved_ns =
      std::max(turns * tiles.count * root_ns + peer_ns, root_ns + tiles.count * peer_ns);
  // Each tile but the first ones, whose flags are on their way all at once, has its own: to be
  // waited for, or, where others had their turn meanwhile, there already.
  const int far = prices.farthest_from(0);
  const bool is_there = plan.order == Order::as_ready;
  const double waits_ns = is_there ? (tiles.channelfuls - 1) * flags_ns : 0;
  const double later = is_there ? tiles.count - tiles.channelfuls : tiles.count - 1;
  const double line_ns = is_there ? prices.written_line_ns(far, 0) : prices.line_ns(far, 0);
  const double more_ns = waits_ns + turns * later * line_ns;
  // While others read, whoever has sent asks for lines.
  const double senders_ns =
      (to_root ? 1 : turns) * (tiles.count * tiles.each.write_ns + tiles.asking_ns);
  return own_ns(prices, request, plan.results) +
         std::max(senders_ns, flags_ns + moved_ns + more_ns);
}

std::vector<Algorithm> allgather_algorithms(const TeamResources& resources) {
  const auto capacity = static_cast<double>(resources.doubling_exchange.capacity_bytes);
  return {described<SlotExchange::Plan>("", add_slots_allgather),
          described<DoublingExchange::Plan>(
              fmt::format("all blocks together at most {}", size_text(capacity)), add_doubling)};
}

std::vector<Algorithm> alltoall_algorithms(const TeamResources& resources) {
  const auto capacity = static_cast<double>(resources.slot_exchange.capacity_bytes);
  return {described<SlotExchange::Plan>(
              fmt::format("equal blocks, all of a rank's at most {}", size_text(capacity)),
              add_slots_alltoall),
          described<PairExchange::Plan>("", add_pairs_alltoall)};
}

std::vector<Algorithm> rooted_algorithms() {
  return {described<PairExchange::Plan>("", add_pairs_rooted)};
}

double pairs_uneven_ns(const Prices& prices, int cells, const Request& request,
                       const PairExchange::Plan& plan) {
  PairExchange::Plan of_call = plan;
  of_call.results = kernel_of_results(prices, request);
  return is_rooted(request.operation) ? pairs_rooted_ns(prices, cells, request, of_call)
                                      : pairs_alltoall_ns(prices, cells, request, of_call);
}

namespace {

// Of what a rank gets, which is all that it knows: from how much on results are better written past
// the caches, if others get as much, or, of a gather, nothing.
std::size_t past_caches_from(const Prices& prices, Operation operation) {
  constexpr std::size_t largest = std::size_t{1} << 30;
  const bool all_get_some = operation != Operation::gatherv;
  const auto all_bytes = [&](std::size_t gotten) {
    return 2 * gotten * static_cast<std::size_t>(all_get_some ? prices.ranks() : 1);
  };
  std::size_t from = PairExchange::Plan::never;
  for (std::size_t gotten = largest; gotten >= node::page_bytes; gotten /= 2) {
    if (prices.kernel_of_results(all_bytes(gotten)) == memory::CopyKernel::plain) break;
    from = gotten;
  }
  return from;
}

}  // namespace

// What is best for much will do for little: a small block is one small tile whatever the plan says,
// and goes first.
Candidate uneven_candidate(const Prices& prices, const TeamResources& resources,
                           const Request& request) {
  const int cells = resources.pair_exchange.cells;
  const std::size_t much = 2 * static_cast<std::size_t>(cells) * resources.pair_exchange.tile_bytes;
  const Request of_much{request.operation, much, 1};
  std::vector<Candidate> tilings;
  add_pairs(tilings, prices, resources, of_much,
            is_rooted(request.operation) ? std::span<const Ways>(ways_of_uneven_root)
                                         : std::span<const Ways>(ways_of_uneven),
            memory::CopyKernel::plain, [&](const PairExchange::Plan& plan) {
              return pairs_uneven_ns(prices, cells, of_much, plan);
            });
  Candidate chosen = cheapest(tilings);
  auto& plan = std::get<PairExchange::Plan>(chosen.plan);
  plan.past_caches_from = past_caches_from(prices, request.operation);
  if (plan.past_caches_from != PairExchange::Plan::never) {
    chosen.parameters += fmt::format(", past the caches from {} on",
                                     size_text(static_cast<double>(plan.past_caches_from)));
  }
  chosen.ns = pairs_uneven_ns(prices, cells, request, plan);
  return chosen;
}

Algorithm uneven_algorithm() { return described<PairExchange::Plan>("", add_pairs_uneven); }

}  // namespace huddle::select

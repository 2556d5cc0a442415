// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>

#include "runtime/context/errors.h"
#include "runtime/node/direct_exchange.h"
#include "runtime/node/doubling_exchange.h"
#include "runtime/node/pair_channels.h"
#include "runtime/node/pair_exchange.h"
#include "runtime/node/slot_exchange.h"

namespace huddle::node {
namespace {

std::vector<int> ring(int rank, int ranks) {
  std::vector<int> visits;
  for (int step = 1; step < ranks; ++step) visits.push_back((rank + step) % ranks);
  return visits;
}

// Returns the order in which a rank gets the blocks in the neighbor exchange of Chen et al. Even
// ranks begin with their right neighbor, odd ranks with their left one; then the sides alternate.
// In the first step a rank gets the neighbor's own block, in each later step the two blocks that
// the neighbor got in the previous step.
std::vector<int> neighbor_exchange(int rank, int ranks) {
  std::vector<int> visits;
  std::vector<bool> met(static_cast<std::size_t>(ranks), false);
  met[static_cast<std::size_t>(rank)] = true;
  const auto meet = [&](int owner) {
    const int who = (owner % ranks + ranks) % ranks;
    if (met[static_cast<std::size_t>(who)]) return;
    met[static_cast<std::size_t>(who)] = true;
    visits.push_back(who);
  };
  const int first_side = rank % 2 == 0 ? 1 : -1;
  meet(rank + first_side);
  // Successive pairs of blocks come from alternating sides, each from one rank farther away.
  for (int step = 1; static_cast<int>(visits.size()) < ranks - 1; ++step) {
    const int side = step % 2 == 0 ? first_side : -first_side;
    meet(rank + side * step);
    meet(rank + side * (step + 1));
  }
  return visits;
}

}  // namespace

SlotExchange::SlotExchange(const Parameters& parameters, int rank, int ranks,
                           context::Sequence start)
    : slot_stride_(slot_bytes(parameters.capacity_bytes)),
      ring_(visits(Order::ring, rank, ranks)),
      neighbors_(visits(Order::neighbor_exchange, rank, ranks)),
      first_(start) {}

std::vector<int> SlotExchange::visits(Order order, int rank, int ranks) {
  switch (order) {
    case Order::ring:
      return ring(rank, ranks);
    case Order::neighbor_exchange:
      return neighbor_exchange(rank, ranks);
  }
  return {};
}

std::vector<DoublingExchange::Round> DoublingExchange::rounds(int ranks) {
  std::vector<Round> rounds;
  for (int distance = 1; distance < ranks; distance *= 2) {
    rounds.push_back({distance, std::min(distance, ranks - distance)});
  }
  return rounds;
}

DoublingExchange::DoublingExchange(const Parameters& parameters, int rank, int ranks,
                                   context::Sequence start)
    : call_(start) {
  const std::size_t largest_block = parameters.capacity_bytes / static_cast<std::size_t>(ranks);
  SharedLayout layout;
  for (const Round& round : rounds(ranks)) {
    const std::size_t most = largest_block * static_cast<std::size_t>(round.blocks);
    messages_.push_back(
        {round.blocks, (rank + round.distance) % ranks, layout.reserve(slot_bytes(most))});
  }
  set_bytes_ = layout.size();
}

PairChannels::PairChannels(const PairParameters& parameters, int ranks, context::Sequence start)
    : cells_(static_cast<context::Sequence>(parameters.cells)),
      lines_(static_cast<context::Sequence>(parameters.lines)),
      cell_stride_(round_up(parameters.tile_bytes, false_sharing_bytes)),
      departures_(layout_, start),
      drained_offset_(layout_.reserve(static_cast<std::size_t>(ranks) * false_sharing_bytes)),
      lines_offset_(
          layout_.reserve(static_cast<std::size_t>(ranks) * lines_ * false_sharing_bytes)),
      cells_offset_(
          layout_.reserve(static_cast<std::size_t>(ranks) * cells_ * cell_stride_, page_bytes)),
      channels_(static_cast<std::size_t>(ranks), Channel{start, start, start}) {}

context::Sequence PairChannels::asked_ahead(context::Sequence tiles, context::Sequence cells) {
  return tiles < cells ? std::min(tiles, cells - tiles) : 0;
}

void PairChannels::expect(PairStream& in, context::Sequence sent_size) {
  if (sent_size == size_word(in.block.bytes)) return;
  const std::size_t sent = in.block.bytes - size_word(in.block.bytes) + sent_size;
  if (!surprise_) surprise_ = {in.peer, sent, in.block.bytes};
  in.block.bytes = sent;
  in.is_unwanted = true;
}

PairExchange::PairExchange(const Parameters& parameters, int ranks, context::Sequence start)
    : channels_(parameters, ranks, start), turns_(static_cast<std::size_t>(ranks)) {
  moving_.reserve(turns_.size());
  awaited_.reserve(turns_.size());
}

void PairExchange::fail(const PairChannels::SizeMismatch& surprise, int rank) {
  throw context::SizesDiffer(fmt::format("rank {} sends {} bytes to rank {}, which expects {}",
                                         surprise.peer, surprise.sent_bytes, rank,
                                         surprise.expected_bytes));
}

// Each rank decides how it writes to its own buffers, so this may differ between ranks.
PairExchange::Plan PairExchange::with_results(const Plan& plan, const Blocks& incoming, int ranks) {
  Plan of_call = plan;
  if (plan.nontemporal_from != Plan::never && incoming.total(ranks) >= plan.nontemporal_from) {
    of_call.results = memory::CopyKernel::nontemporal;
  }
  return of_call;
}

// Over all steps, each rank is its own target exactly once.
int PairExchange::target(int rank, int ranks, int step, Order order) {
  switch (order) {
    case Order::paired:
      return (step - rank + ranks) % ranks;
    case Order::staggered:
    case Order::as_ready:
      return (rank + step) % ranks;
  }
  return rank;
}

int PairExchange::source(int rank, int ranks, int step, Order order) {
  switch (order) {
    case Order::paired:
      return (step - rank + ranks) % ranks;
    case Order::staggered:
      return (rank - step + ranks) % ranks;
    case Order::as_ready:
      return target(rank, ranks, step, order);
  }
  return rank;
}

DirectExchange::DirectExchange(const Parameters& parameters, int ranks, context::Sequence start)
    : tile_bytes_(parameters.tile_bytes),
      exposures_(layout_, ranks, start),
      read_offset_(layout_.reserve(static_cast<std::size_t>(ranks) * flag_bytes)),
      tiles_(static_cast<std::size_t>(ranks), start) {}

}  // namespace huddle::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "node/pair_exchange.h"

#include <fmt/format.h>

#include "world/sizes_differ.h"

namespace huddle::node {

PairExchange::PairExchange(const Parameters& parameters, int ranks, world::Sequence start)
    : cells_(static_cast<world::Sequence>(parameters.cells)),
      lines_(static_cast<world::Sequence>(parameters.lines)),
      cell_stride_(round_up(parameters.tile_bytes, apart_bytes)),
      departures_(carver_, start),
      drained_offset_(carver_.take(static_cast<std::size_t>(ranks) * apart_bytes)),
      lines_offset_(carver_.take(static_cast<std::size_t>(ranks) * lines_ * apart_bytes)),
      cells_offset_(
          carver_.take(static_cast<std::size_t>(ranks) * cells_ * cell_stride_, page_bytes)),
      channels_(static_cast<std::size_t>(ranks), Channel{start, start, start}),
      turns_(static_cast<std::size_t>(ranks)) {
  moving_.reserve(turns_.size());
  awaited_.reserve(turns_.size());
}

void PairExchange::fail(const Surprise& surprise, int rank) {
  throw world::SizesDiffer(fmt::format("rank {} sends {} bytes to rank {}, which expects {}",
                                       surprise.peer, surprise.sent_bytes, rank,
                                       surprise.expected_bytes));
}

// Of cells that it has left alone: those that it has filled just now are not drained yet.
world::Sequence PairExchange::asked_ahead(world::Sequence tiles, world::Sequence cells) {
  return tiles < cells ? std::min(tiles, cells - tiles) : 0;
}

// How a rank writes to its own buffers is nobody else's business.
PairExchange::Plan PairExchange::with_results(const Plan& plan, const Blocks& incoming, int ranks) {
  Plan of_call = plan;
  if (plan.past_caches_from != never && incoming.total(ranks) >= plan.past_caches_from) {
    of_call.results = memory::CopyKernel::nontemporal;
  }
  return of_call;
}

// A rank turns to itself once, or, in some orders of an even number of ranks, not at all or twice.
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

}  // namespace huddle::node

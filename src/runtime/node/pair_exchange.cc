// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/pair_exchange.h"

#include <fmt/format.h>

#include "runtime/context/sizes_differ.h"

namespace huddle::node {

PairExchange::PairExchange(const Parameters& parameters, int ranks, world::Sequence start)
    : channels_(parameters, ranks, start), turns_(static_cast<std::size_t>(ranks)) {
  moving_.reserve(turns_.size());
  awaited_.reserve(turns_.size());
}

void PairExchange::fail(const PairChannels::Surprise& surprise, int rank) {
  throw world::SizesDiffer(fmt::format("rank {} sends {} bytes to rank {}, which expects {}",
                                       surprise.peer, surprise.sent_bytes, rank,
                                       surprise.expected_bytes));
}

// How a rank writes to its own buffers is nobody else's business.
PairExchange::Plan PairExchange::with_results(const Plan& plan, const Blocks& incoming, int ranks) {
  Plan of_call = plan;
  if (plan.past_caches_from != Plan::never && incoming.total(ranks) >= plan.past_caches_from) {
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

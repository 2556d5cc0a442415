// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The reductions, as they describe themselves.
#include "select/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"

namespace huddle::select {
namespace {

using node::Association;
using node::TreeReduce;

std::vector<int> row(int first, int last) {
  std::vector<int> ranks(static_cast<std::size_t>(std::max(0, last - first)));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

// What a round moves of a rank's data.
struct Block {
  std::size_t bytes = 0;
  std::size_t data_bytes = 0;
};

// A rank shows a block in one of its slots; what rides in the flag's line costs nothing besides.
double show_ns(const Prices& prices, std::size_t bytes, std::size_t slots,
               memory::CopyKernel kernel) {
  if (bytes <= node::most_in_line) return 0;
  return prices.write_ns(bytes, slots * bytes, 0, prices.farthest_from(0), kernel);
}

// `reader` joins what these show to its own.
double join_all_ns(const Prices& prices, const std::vector<int>& writers, int reader,
                   const Block& block) {
  double ns = 0;
  for (const int writer : writers) {
    ns += prices.rest_ns(block.bytes, writer, reader) +
          prices.join_ns(block.bytes, block.data_bytes, reader);
  }
  return ns;
}
double gather_ns(const Prices& prices, const std::vector<int>& writers, int reader,
                 const Block& block) {
  return prices.flags_ns(writers, reader, 1) + join_all_ns(prices, writers, reader, block);
}

std::vector<int> members_but_first(const Association& association, int block) {
  return row(association.first(block) + 1, association.first(block + 1));
}

std::vector<int> leaders_but_first(const Association& association) {
  std::vector<int> leaders;
  for (int block = 1; block < association.blocks(); ++block) {
    leaders.push_back(association.first(block));
  }
  return leaders;
}

// A round of a tree reduction: how long it takes alone, and how long the busiest rank works at it,
// which is the pace at which rounds follow each other.
struct Round {
  double alone_ns = 0;
  double busy_ns = 0;
};

Round tree_round(const Prices& prices, const Association& association, const Block& block,
                 int slots_in_turn, TreeReduce::Top top, bool to_all) {
  const int far = prices.farthest_from(0);
  const double shown_ns = show_ns(prices, block.bytes, static_cast<std::size_t>(slots_in_turn),
                                  memory::CopyKernel::plain);
  const std::vector<int> leaders = leaders_but_first(association);
  const std::vector<int> others = row(1, prices.ranks());
  double leader_works_ns = 0;
  for (int i = 0; i < association.blocks(); ++i) {
    leader_works_ns = std::max(leader_works_ns, gather_ns(prices, members_but_first(association, i),
                                                          association.first(i), block));
  }
  const double join_ns = prices.join_ns(block.bytes, block.data_bytes, 0);
  const double top_works_ns = gather_ns(prices, leaders, 0, block) + join_ns;
  Round round{.alone_ns = leader_works_ns + 2 * shown_ns + top_works_ns,
              .busy_ns = leader_works_ns + shown_ns + top_works_ns};
  if (!to_all) return round;
  switch (top) {
    case TreeReduce::Top::first_rank: {
      // One step more: the result has to be shown, and all take it.
      const double take_ns =
          prices.rest_ns(block.bytes, 0, far) + prices.join_ns(block.bytes, block.data_bytes, far);
      round.alone_ns += shown_ns + prices.line_to_ns(0, others) + take_ns;
      round.busy_ns += shown_ns + join_ns + prices.line_ns(0, far);
      break;
    }
    case TreeReduce::Top::everybody:
      // The blocks' lines are read by all in place of one.
      round.alone_ns += prices.line_to_ns(0, others) - prices.line_ns(0, far) +
                        (leaders.empty() ? prices.line_ns(0, far) : 0);
      break;
  }
  return round;
}

std::string_view name(TreeReduce::Top top) {
  switch (top) {
    case TreeReduce::Top::first_rank:
      return "the first joins blocks";
    case TreeReduce::Top::everybody:
      return "everybody joins blocks";
  }
  return {};
}

// What a slot may carry in a round: what fits into its flag's line, then more and more, until all
// fits or the slot is full.
std::vector<std::size_t> round_sizes(const Request& request, std::size_t capacity) {
  std::vector<std::size_t> sizes = {node::most_in_line};
  for (std::size_t size = 4 * node::line_bytes; size <= capacity; size *= 2) {
    if (sizes.back() >= request.bytes) break;
    sizes.push_back(size);
  }
  std::erase_if(sizes, [&](std::size_t size) { return size < request.element_bytes; });
  return sizes;
}

void add_tree(std::vector<Candidate>& list, const Prices& prices, const Provision& provision,
              const Request& request, const Association& association) {
  const bool to_all = request.operation == Operation::allreduce;
  const std::size_t capacity = provision.tree_reduce.capacity_bytes;
  for (const auto top : {TreeReduce::Top::first_rank, TreeReduce::Top::everybody}) {
    if (!to_all && top == TreeReduce::Top::everybody) continue;
    for (const std::size_t round : round_sizes(request, capacity)) {
      const TreeReduce::Plan plan{round, top};
      list.push_back({plan,
                      fmt::format("blocks: {}, rounds of {}, {}", association.blocks(),
                                  size_text(static_cast<double>(round)), name(top)),
                      tree_reduce_ns(prices, association, provision.tree_reduce.slots,
                                     request.bytes, plan, to_all)});
    }
  }
}

void add_exchange(std::vector<Candidate>& list, const Prices& prices, const Provision& provision,
                  const Request& request) {
  const int far = prices.farthest_from(0);
  for (const std::size_t round : round_sizes(request, provision.exchange.capacity_bytes)) {
    const std::size_t buffers = node::ExchangeAllreduce::slots * round;
    const node::ExchangeAllreduce::Plan plan{round,
                                             prices.block_kernel_for(round, buffers, 0, far)};
    list.push_back({plan,
                    fmt::format("rounds of {}, {}", size_text(static_cast<double>(round)),
                                memory::name(plan.copy_in)),
                    exchange_ns(prices, request.bytes, plan)});
  }
}

void add_sliced(std::vector<Candidate>& list, const Prices& prices, const Provision& provision,
                const Request& request) {
  const bool to_all = request.operation == Operation::allreduce;
  const auto& parameters = provision.sliced_reduce;
  const auto ranks = static_cast<std::size_t>(prices.ranks());
  const int far = prices.farthest_from(0);
  for (std::size_t slice = node::line_bytes; slice <= parameters.slice_bytes; slice *= 2) {
    if (slice < request.element_bytes) continue;
    const std::size_t buffers = static_cast<std::size_t>(parameters.sets) * slice * ranks;
    const node::SlicedReduce::Plan plan{slice, prices.block_kernel_for(slice, buffers, 0, far)};
    list.push_back({plan,
                    fmt::format("slices of {}, {}", size_text(static_cast<double>(slice)),
                                memory::name(plan.copy_in)),
                    sliced_reduce_ns(prices, parameters.sets, request.bytes, plan, to_all)});
    if (slice * ranks >= request.bytes) break;
  }
}

}  // namespace

// Everybody reads everybody's line: each line has as many readers as there are others. Each round
// has its flags to wait for, its data to show, and all to join.
double exchange_ns(const Prices& prices, std::size_t bytes,
                   const node::ExchangeAllreduce::Plan& plan) {
  const std::size_t least = std::max<std::size_t>(bytes, 1);
  const std::size_t round_bytes = std::min(plan.round_bytes, least);
  const double rounds = ceil_div(least, round_bytes);
  const int far = prices.farthest_from(0);
  const std::vector<int> others = row(1, prices.ranks());
  const double shown_ns =
      show_ns(prices, round_bytes, node::ExchangeAllreduce::slots, plan.copy_in);
  const double queue_ns = std::max(0.0, prices.line_to_ns(0, others) - prices.line_ns(0, far));
  const double flags_ns = prices.flags_ns(others, 0, 1) + queue_ns;
  return rounds * (shown_ns + flags_ns + join_all_ns(prices, others, 0, {round_bytes, least}));
}

double tree_reduce_ns(const Prices& prices, const Association& association, int slots,
                      std::size_t bytes, const TreeReduce::Plan& plan, bool to_all) {
  const std::size_t least = std::max<std::size_t>(bytes, 1);
  const std::size_t round_bytes = std::min(plan.round_bytes, least);
  const double rounds = ceil_div(least, round_bytes);
  const Round round =
      tree_round(prices, association, {round_bytes, least}, slots, plan.top, to_all);
  return round.alone_ns + (rounds - 1) * round.busy_ns;
}

// A rank copies in what is the others', joins its share, and fetches the rest, all by itself; each
// chunk has the others' flags to wait for three times, and two chunks are under way at the ends.
double sliced_reduce_ns(const Prices& prices, int sets, std::size_t bytes,
                        const node::SlicedReduce::Plan& plan, bool to_all) {
  const auto ranks = static_cast<std::size_t>(prices.ranks());
  const int far = prices.farthest_from(0);
  const int others = prices.ranks() - 2;
  const std::size_t theirs = bytes / ranks * (ranks - 1);
  const std::size_t chunk = std::min(plan.slice_bytes * ranks, std::max<std::size_t>(bytes, 1));
  const double chunks = ceil_div(bytes, chunk);
  const std::size_t buffers = static_cast<std::size_t>(sets) * chunk;
  const double in_ns = prices.write_ns(theirs, buffers, 0, far, plan.copy_in);
  const double join_ns = prices.read_ns(theirs, far, 0, others);
  const double result_ns = prices.write_ns(bytes / ranks, buffers, 0, far, plan.copy_in);
  const double fetch_ns = to_all ? join_ns : prices.read_ns(theirs, far, 0, 0);
  const double flags_ns = prices.flags_ns(row(1, prices.ranks()), 0, 1);
  return in_ns + join_ns + result_ns + fetch_ns + 3 * (chunks + 1) * flags_ns;
}

std::vector<Candidate> reduce_candidates(const Prices& prices, const Provision& provision,
                                         const Request& request) {
  const Association association(prices.seats());
  std::vector<Candidate> list;
  if (request.operation == Operation::allreduce) add_exchange(list, prices, provision, request);
  add_tree(list, prices, provision, request, association);
  add_sliced(list, prices, provision, request);
  return list;
}

}  // namespace huddle::select

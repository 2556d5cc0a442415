// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The reductions, as they describe themselves.
#include "select/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/text.h"

namespace huddle::select {
namespace {

using node::Association;
using node::TreeReduce;

constexpr std::array<memory::CopyKernel, 2> priced_kernels = {memory::CopyKernel::plain,
                                                              memory::CopyKernel::nontemporal};

std::vector<int> row(int first, int last) {
  std::vector<int> ranks(static_cast<std::size_t>(std::max(0, last - first)));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

// `reader` waits for what these show and joins it to its own.
double gather_ns(const Prices& prices, const std::vector<int>& writers, int reader,
                 std::size_t bytes) {
  double ns = prices.flags_ns(writers, reader, 1);
  for (const int writer : writers) {
    ns += prices.rest_ns(bytes, writer, reader) + prices.join_ns(bytes, reader);
  }
  return ns;
}

double blocks_ns(const Prices& prices, const Association& association, std::size_t bytes) {
  double slowest = 0;
  for (int block = 0; block < association.blocks(); ++block) {
    const int first = association.first(block);
    slowest = std::max(
        slowest, gather_ns(prices, row(first + 1, association.first(block + 1)), first, bytes));
  }
  return slowest;
}

std::vector<int> leaders_but_first(const Association& association) {
  std::vector<int> leaders;
  for (int block = 1; block < association.blocks(); ++block) {
    leaders.push_back(association.first(block));
  }
  return leaders;
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

void add_tree(std::vector<Candidate>& list, const Prices& prices, const Provision& provision,
              const Request& request, const Association& association) {
  const bool to_all = request.operation == Operation::allreduce;
  const std::size_t capacity = provision.tree_reduce.capacity_bytes;
  for (const auto top : {TreeReduce::Top::first_rank, TreeReduce::Top::everybody}) {
    if (!to_all && top == TreeReduce::Top::everybody) continue;
    for (std::size_t round = node::line_bytes - node::payload_offset;; round *= 4) {
      const TreeReduce::Plan plan{std::min(round, capacity), top};
      if (plan.round_bytes >= request.element_bytes) {
        list.push_back({plan,
                        fmt::format("blocks: {}, rounds of {}, {}", association.blocks(),
                                    size_text(static_cast<double>(plan.round_bytes)), name(top)),
                        tree_reduce_ns(prices, association, request.bytes, plan, to_all)});
      }
      if (round >= request.bytes || round >= capacity) break;
    }
  }
}

void add_sliced(std::vector<Candidate>& list, const Prices& prices, const Provision& provision,
                const Request& request) {
  const bool to_all = request.operation == Operation::allreduce;
  const std::size_t most = provision.sliced_reduce.slice_bytes;
  const auto ranks = static_cast<std::size_t>(prices.ranks());
  for (std::size_t slice = node::line_bytes; slice <= most; slice *= 2) {
    if (slice < request.element_bytes) continue;
    for (const memory::CopyKernel kernel : priced_kernels) {
      const node::SlicedReduce::Plan plan{slice, kernel};
      list.push_back({plan,
                      fmt::format("slices of {}, {}", size_text(static_cast<double>(slice)),
                                  memory::name(kernel)),
                      sliced_reduce_ns(prices, request.bytes, plan, to_all)});
    }
    if (slice * ranks >= request.bytes) break;
  }
}

}  // namespace

// Everybody reads everybody's line: each line has as many readers as there are others.
double exchange_ns(const Prices& prices, std::size_t bytes) {
  double slowest = 0;
  for (int rank = 0; rank < prices.ranks(); ++rank) {
    std::vector<int> others = row(0, prices.ranks());
    others.erase(others.begin() + rank);
    const double in_ns = gather_ns(prices, others, rank, bytes);
    const double out_ns = prices.line_to_ns(rank, others);
    double nearest = out_ns;
    for (const int other : others) nearest = std::min(nearest, prices.line_ns(rank, other));
    slowest = std::max(slowest, in_ns + out_ns - nearest);
  }
  return slowest;
}

// Rounds follow each other through the steps: all steps once, then the slowest for each round more.
double tree_reduce_ns(const Prices& prices, const Association& association, std::size_t bytes,
                      const TreeReduce::Plan& plan, bool to_all) {
  const std::size_t round = std::min(plan.round_bytes, std::max<std::size_t>(bytes, 1));
  const double rounds = static_cast<double>(std::max<std::size_t>(1, (bytes + round - 1) / round));
  const double within_ns = blocks_ns(prices, association, round);
  const double across_ns = gather_ns(prices, leaders_but_first(association), 0, round);
  double result_ns = 0;
  if (to_all) {
    const std::vector<int> others = row(1, prices.ranks());
    const bool extra_step = plan.top == TreeReduce::Top::first_rank;
    result_ns = extra_step ? prices.line_to_ns(0, others) +
                                 prices.rest_ns(round, 0, prices.farthest_from(0))
                           // The blocks' lines are read by all in place of one.
                           : prices.line_to_ns(0, others) - prices.line_ns(0, 1);
  }
  const double slowest = std::max({within_ns, across_ns, result_ns});
  return within_ns + across_ns + std::max(0.0, result_ns) + (rounds - 1) * slowest;
}

// A rank copies in what is the others', joins its share, and fetches the rest, all by itself; each
// chunk has the others' flags to wait for three times, and two chunks are under way at the ends.
double sliced_reduce_ns(const Prices& prices, std::size_t bytes,
                        const node::SlicedReduce::Plan& plan, bool to_all) {
  const auto ranks = static_cast<std::size_t>(prices.ranks());
  const int far = prices.farthest_from(0);
  const int others = prices.ranks() - 2;
  const std::size_t theirs = bytes / ranks * (ranks - 1);
  const std::size_t chunk = std::min(plan.slice_bytes * ranks, std::max<std::size_t>(bytes, 1));
  const double chunks = static_cast<double>((bytes + chunk - 1) / chunk);
  const double in_ns = prices.write_ns(theirs, 0, far, plan.copy_in);
  const double join_ns = prices.read_ns(theirs, far, 0, others);
  const double result_ns = prices.write_ns(bytes / ranks, 0, far, memory::CopyKernel::plain);
  const double fetch_ns = to_all ? join_ns : prices.read_ns(theirs, far, 0, 0);
  const double flags_ns = prices.flags_ns(row(1, prices.ranks()), 0, 1);
  return in_ns + join_ns + result_ns + fetch_ns + 3 * (chunks + 1) * flags_ns;
}

std::vector<Candidate> reduce_candidates(const Prices& prices, const Provision& provision,
                                         const Request& request) {
  const Association association(prices.seats());
  std::vector<Candidate> list;
  const bool to_all = request.operation == Operation::allreduce;
  if (to_all && request.bytes <= provision.exchange.capacity_bytes) {
    list.push_back({ExchangePlan{}, "everybody joins all", exchange_ns(prices, request.bytes)});
  }
  add_tree(list, prices, provision, request, association);
  add_sliced(list, prices, provision, request);
  return list;
}

}  // namespace huddle::select

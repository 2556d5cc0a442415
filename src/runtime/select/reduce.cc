// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Candidates and predicted times of the reductions.
#include "runtime/select/algorithm.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/text.h"

namespace huddle::select {
namespace {

using node::ReductionOrder;
using node::ReductionTarget;
using node::SlicedReduce;
using node::TreeReduce;
using Results = SlicedReduce::Results;

std::vector<int> row(int first, int last) {
  std::vector<int> ranks(static_cast<std::size_t>(std::max(0, last - first)));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

// The part of a rank's data that one round moves.
struct Block {
  std::size_t bytes = 0;
  std::size_t data_bytes = 0;
  bool is_behind_flag = false;
};

// Returns the time until all ranks have published a block in one of their slots.
double show_ns(const Costs& costs, std::size_t bytes, std::size_t slots,
               memory::CopyMethod method) {
  const int far = costs.farthest_from(0);
  return costs.by_all_ns(costs.show_ns(bytes, slots * bytes, 0, far, method));
}

ReductionTarget::Kind aim_of(Operation operation) {
  if (operation == Operation::allreduce) return ReductionTarget::Kind::to_all;
  if (operation == Operation::reduce) return ReductionTarget::Kind::to_one;
  if (reduces_to_blocks(operation)) return ReductionTarget::Kind::to_each;
  return operation == Operation::scan ? ReductionTarget::Kind::inclusive
                                      : ReductionTarget::Kind::exclusive;
}

// In a reduce, a contribution has one reader, which may take ownership. In a prefix reduction a
// rank reads only the contributions of lower ranks, so some lines have no reader that could pass
// them back to their writer.
std::vector<memory::CopyMethods> methods_of_exchange(const Costs& costs, Operation operation) {
  if (ReductionTarget{aim_of(operation)}.is_of_prefixes()) return {memory::reduced_by_many};
  const auto to_all = costs.shown_to_all(memory::joined_both_ways, memory::reduced_by_many);
  if (operation == Operation::reduce) return {memory::reduced_by_one, to_all};
  return {to_all};
}

// Returns the time in which `reader` reduces the contributions of `writers` with its own. It
// requests data outside the flag's line after it has seen the flag, so that nothing hides the
// latency of the first line. Data written by non-temporal stores are read from memory.
double combine_all_ns(const Costs& costs, const std::vector<int>& writers, int reader,
                      const Block& block, memory::CopyMethod shown_by = {}) {
  const bool is_in_caches = shown_by->in != memory::CopyKernel::nontemporal || block.is_behind_flag;
  double ns = 0;
  for (const int writer : writers) {
    const double rest_ns = costs.rest_ns(block.bytes, writer, reader);
    ns += is_in_caches ? rest_ns
                       : std::max(rest_ns, costs.read_ns(block.bytes, writer, reader, 0, shown_by));
    ns += costs.reduce_ns(block.bytes, block.data_bytes, reader);
  }
  if (writers.empty() || block.is_behind_flag) return ns;
  return ns + costs.read_ns(node::line_bytes, writers.front(), reader, 0);
}
double gather_ns(const Costs& costs, const std::vector<int>& writers, int reader,
                 const Block& block) {
  return costs.flags_ns(writers, reader, 1) + combine_all_ns(costs, writers, reader, block);
}

std::vector<int> members_but_first(const ReductionOrder& reduction_order, int block) {
  return row(reduction_order.first(block) + 1, reduction_order.first(block + 1));
}

std::vector<int> leaders_but_first(const ReductionOrder& reduction_order) {
  std::vector<int> leaders;
  for (int block = 1; block < reduction_order.blocks(); ++block) {
    leaders.push_back(reduction_order.first(block));
  }
  return leaders;
}

// A round of a tree reduction: its time alone, and the time of its busiest rank, which is the
// interval between successive rounds.
struct Round {
  double alone_ns = 0;
  double busy_ns = 0;
};

// Returns the number of ranks that combine the blocks' results.
int joiners(const Costs& costs, const ReductionOrder& reduction_order, TreeReduce::Top top) {
  switch (top) {
    case TreeReduce::Top::first_rank:
      return 1;
    case TreeReduce::Top::leaders:
      return reduction_order.blocks();
    case TreeReduce::Top::everybody:
      return costs.ranks();
  }
  return 1;
}

// Returns the time in which `readers` get the result that `combiner` publishes.
double handed_on_ns(const Costs& costs, int combiner, const std::vector<int>& readers,
                    const Block& block) {
  if (readers.empty()) return 0;
  const int last = readers.back();
  return costs.line_to_ns(combiner, readers) +
         costs.by_all_ns(costs.rest_ns(block.bytes, combiner, last) +
                         costs.reduce_ns(block.bytes, block.data_bytes, last));
}

Round tree_round(const Costs& costs, const ReductionOrder& reduction_order, const Block& block,
                 int slots_in_turn, TreeReduce::Top top, bool to_all) {
  const int far = costs.farthest_from(0);
  const double shown_ns = show_ns(costs, block.bytes, static_cast<std::size_t>(slots_in_turn),
                                  memory::CopyKernel::plain);
  const std::vector<int> leaders = leaders_but_first(reduction_order);
  const std::vector<int> others = costs.others_than(0);
  double leader_works_ns = 0;
  double members_take_ns = 0;
  for (int i = 0; i < reduction_order.blocks(); ++i) {
    const std::vector<int> members = members_but_first(reduction_order, i);
    const int leader = reduction_order.first(i);
    leader_works_ns = std::max(leader_works_ns, gather_ns(costs, members, leader, block));
    members_take_ns = std::max(members_take_ns, handed_on_ns(costs, leader, members, block));
  }
  const double reduce_ns = costs.reduce_ns(block.bytes, block.data_bytes, 0);
  const double combines_ns = combine_all_ns(costs, leaders, 0, block) + reduce_ns;
  const double top_works_ns =
      costs.flags_ns(leaders, 0, 1) +
      costs.in_turns_ns(combines_ns, to_all ? joiners(costs, reduction_order, top) : 1);
  // Members publish their data for their leader; a leader publishes its block's result if other
  // ranks need it.
  const bool members_show = reduction_order.blocks() < costs.ranks();
  const bool leaders_show = !leaders.empty() || (to_all && top == TreeReduce::Top::everybody);
  const int shows = (members_show ? 1 : 0) + (leaders_show ? 1 : 0);
  Round round{.alone_ns = leader_works_ns + shows * shown_ns + top_works_ns,
              .busy_ns = leader_works_ns + shown_ns + top_works_ns};
  if (!to_all) return round;
  // The busiest rank also has to publish the result.
  const double share_ns = shown_ns + reduce_ns + costs.line_ns(0, far);
  switch (top) {
    case TreeReduce::Top::first_rank:
      round.alone_ns += shown_ns + handed_on_ns(costs, 0, others, block);
      round.busy_ns += share_ns;
      break;
    case TreeReduce::Top::leaders:
      round.alone_ns += costs.queue_ns(0, leaders) + shown_ns + members_take_ns;
      round.busy_ns += share_ns;
      break;
    case TreeReduce::Top::everybody:
      // All ranks, instead of one, read the lines of the blocks' results.
      round.alone_ns += costs.queue_ns(0, others) + (leaders.empty() ? costs.line_ns(0, far) : 0);
      break;
  }
  return round;
}

std::string_view name(TreeReduce::Top top) {
  switch (top) {
    case TreeReduce::Top::first_rank:
      return "rank 0 reduces the blocks";
    case TreeReduce::Top::leaders:
      return "leaders reduce the blocks";
    case TreeReduce::Top::everybody:
      return "each rank reduces blocks";
  }
  return {};
}

// Returns the sizes that a slot may hold in a round: at least one element. In a reduce-scatter, a
// round must hold all blocks: if it held only some, only the ranks that own these blocks would
// work.
std::vector<std::size_t> round_sizes(const Request& request, std::size_t capacity) {
  std::vector<std::size_t> sizes = piece_sizes(request.bytes, capacity);
  const std::size_t least = reduces_to_blocks(request.operation)
                                ? std::max(request.bytes, request.element_bytes)
                                : request.element_bytes;
  std::erase_if(sizes, [&](std::size_t size) { return size < least; });
  return sizes;
}

// Returns the ranks that may reduce the blocks' results; only an allreduce has a choice. If there
// is one block, or one per rank, `leaders` is the same as first_rank or `everybody`.
std::vector<TreeReduce::Top> tops_for(const ReductionOrder& reduction_order, Operation operation) {
  using Top = TreeReduce::Top;
  if (operation == Operation::reduce) return {Top::first_rank};
  const int ranks = reduction_order.first(reduction_order.blocks());
  const bool have_leaders = reduction_order.blocks() > 1 && reduction_order.blocks() < ranks;
  if (!have_leaders) return {Top::first_rank, Top::everybody};
  return {Top::first_rank, Top::leaders, Top::everybody};
}

void add_tree(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
              const Request& request) {
  const ReductionOrder reduction_order(costs.locality());
  const bool to_all = request.operation == Operation::allreduce;
  const std::size_t capacity = resources.tree_reduce.capacity_bytes;
  for (const TreeReduce::Top top : tops_for(reduction_order, request.operation)) {
    for (const std::size_t round : round_sizes(request, capacity)) {
      const TreeReduce::Plan plan{round, top};
      list.push_back(
          {plan,
           fmt::format("{}, rounds of {}, {}", counted(reduction_order.blocks(), "block"),
                       size_text(static_cast<double>(round)), name(top)),
           tree_reduce_ns(costs, reduction_order, resources.tree_reduce.slots, request.bytes, plan,
                          to_all)});
    }
  }
}

void add_exchange(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                  const Request& request) {
  for (const std::size_t round : round_sizes(request, resources.exchange.capacity_bytes)) {
    // The cheapest method for one reader may not be the cheapest for many.
    std::vector<memory::CopyMethod> methods;
    if (!costs.avoids({})) methods.emplace_back();
    for (const memory::CopyMethods allowed : methods_of_exchange(costs, request.operation)) {
      methods.push_back(costs.block_copy_method_for(
          {round, round, node::ExchangeReduce::slots * round}, 0, costs.farthest_from(0), allowed));
    }
    std::vector<Candidate> manners;
    for (const memory::CopyMethod method : methods) {
      const node::ExchangeReduce::Plan plan{round, method};
      manners.push_back({plan,
                         fmt::format("rounds of {}, {}", size_text(static_cast<double>(round)),
                                     memory::name(method)),
                         exchange_ns(costs, request, plan)});
    }
    list.push_back(cheapest(manners));
  }
}

// Returns whether all data are reduced to one result, on one rank or on all.
bool is_whole(Operation operation) {
  return operation == Operation::reduce || operation == Operation::allreduce;
}

std::string_view name(Results results) {
  switch (results) {
    case Results::returned:
      return "results returned";
    case Results::in_one_place:
      return "results in one buffer";
  }
  return {};
}

// Returns whether every rank's output is as large as its input.
bool all_get_all(ReductionTarget::Kind aim) {
  switch (aim) {
    case ReductionTarget::Kind::to_all:
    case ReductionTarget::Kind::inclusive:
    case ReductionTarget::Kind::exclusive:
      return true;
    case ReductionTarget::Kind::to_one:
    case ReductionTarget::Kind::to_each:
      return false;
  }
  return false;
}

// Returns whether every rank receives a result in the lines of its contribution.
bool comes_back_to_all(Results results, ReductionTarget::Kind aim) {
  return results == Results::returned && all_get_all(aim);
}

// Lines that return with results are in the writer's cache when it writes them again. Any other
// contribution has a single reader, which may take ownership. Non-temporal stores are not used for
// lines in which results return.
memory::CopyMethod copy_method_of_slices(const Costs& costs, std::size_t slice, std::size_t buffers,
                                         Results results, ReductionTarget::Kind aim) {
  if (comes_back_to_all(results, aim)) return {};
  const memory::CopyMethod method = costs.block_copy_method_for(
      {slice, slice, buffers}, 0, costs.farthest_from(0), memory::reduced_by_one);
  const bool is_taken = method->ownership == memory::LineOwnership::reader_takes;
  return results == Results::returned && !is_taken ? memory::CopyMethod() : method;
}

void add_sliced(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                const Request& request, Results results) {
  const auto& parameters = resources.sliced_reduce;
  const auto ranks = static_cast<std::size_t>(costs.ranks());
  const ReductionTarget::Kind aim = aim_of(request.operation);
  for (std::size_t slice = node::line_bytes; slice <= parameters.slice_bytes; slice *= 2) {
    if (slice < request.element_bytes) continue;
    const std::size_t buffers = static_cast<std::size_t>(parameters.sets) * slice * ranks;
    const SlicedReduce::Plan plan{slice, copy_method_of_slices(costs, slice, buffers, results, aim),
                                  results};
    list.push_back({plan,
                    fmt::format("slices of {}, {}, {}", size_text(static_cast<double>(slice)),
                                name(results), memory::name(plan.method)),
                    sliced_reduce_ns(costs, parameters.sets, request.bytes, plan, aim)});
    if (slice * ranks >= request.bytes) break;
  }
}
void add_sliced(std::vector<Candidate>& list, const Costs& costs, const TeamResources& resources,
                const Request& request) {
  add_sliced(list, costs, resources, request, Results::returned);
  if (is_whole(request.operation)) {
    add_sliced(list, costs, resources, request, Results::in_one_place);
  }
}

}  // namespace

// Every rank reads the lines of all others, so each line has ranks() - 1 readers. In each round a
// rank publishes its data, waits for the flags, and reduces all contributions. In a reduction to
// blocks it reduces only its own block, which it does not publish. In a reduce only the root
// reduces (except with ping-pong), and the others read flags only before they reuse a slot.
double exchange_ns(const Costs& costs, const Request& request,
                   const node::ExchangeReduce::Plan& plan) {
  const std::size_t least = std::max<std::size_t>(request.bytes, 1);
  const std::size_t round_bytes = std::min(plan.round_bytes, least);
  const double rounds = ceil_div(least, round_bytes);
  const bool is_of_blocks = reduces_to_blocks(request.operation);
  const std::size_t own = round_bytes / static_cast<std::size_t>(costs.ranks());
  const double shown_ns = show_ns(costs, is_of_blocks ? round_bytes - own : round_bytes,
                                  node::ExchangeReduce::slots, plan.method);
  const Block combined{is_of_blocks ? own : round_bytes, least,
                       node::fits_behind_flag(round_bytes)};
  const std::vector<int> others = costs.others_than(0);
  const double combines_ns = combine_all_ns(costs, others, 0, combined, plan.method);
  const bool is_to_one = request.operation == Operation::reduce &&
                         plan.method->ownership != memory::LineOwnership::ping_pong;
  const double flags_ns =
      is_to_one && combined.is_behind_flag ? costs.flags_to_first_ns() : costs.synchronization_ns();
  return rounds * (shown_ns + flags_ns + (is_to_one ? combines_ns : costs.by_all_ns(combines_ns)));
}

double tree_reduce_ns(const Costs& costs, const ReductionOrder& reduction_order, int slots,
                      std::size_t bytes, const TreeReduce::Plan& plan, bool to_all) {
  const std::size_t least = std::max<std::size_t>(bytes, 1);
  const std::size_t round_bytes = std::min(plan.round_bytes, least);
  const double rounds = ceil_div(least, round_bytes);
  const Round round =
      tree_round(costs, reduction_order, {round_bytes, least, node::fits_behind_flag(round_bytes)},
                 slots, plan.top, to_all);
  return round.alone_ns + (rounds - 1) * round.busy_ns;
}

namespace {

// Returns the size of the inputs and outputs of all ranks.
std::size_t data_of_all(std::size_t ranks, std::size_t bytes, ReductionTarget::Kind aim) {
  return (ranks + (all_get_all(aim) ? ranks : 1)) * bytes;
}

}  // namespace

// A rank copies in the peers' slices, reduces its own slice, and fetches the others' results, no
// faster than the caches or memory provide its own data. In each chunk it waits for three flags of
// the peers: that data are published, that results are published, and, if results have a place of
// their own, that this has been read. The first data are requested after their flag has arrived.
double sliced_reduce_ns(const Costs& costs, int sets, std::size_t bytes,
                        const SlicedReduce::Plan& plan, ReductionTarget::Kind aim) {
  const bool returned = plan.results == Results::returned;
  const auto ranks = static_cast<std::size_t>(costs.ranks());
  const int far = costs.farthest_from(0);
  const int others = costs.ranks() - 2;
  const std::size_t mine = bytes / ranks;
  const std::size_t theirs = mine * (ranks - 1);
  const std::size_t chunk = std::min(plan.slice_bytes * ranks, std::max<std::size_t>(bytes, 1));
  const std::size_t places = chunk / ranks * (returned ? ranks - 1 : ranks);
  const std::size_t buffers = static_cast<std::size_t>(sets) * places;
  const double moved_ns =
      costs.move_ns(theirs, data_of_all(ranks, bytes, aim), memory::CopyKernel::plain);
  const double shown_ns = costs.by_all_ns(
      std::max(moved_ns, comes_back_to_all(plan.results, aim)
                             ? costs.write_ns(theirs, buffers, 0, far, memory::by_ping_pong)
                             : costs.write_ns(theirs, buffers, 0, far, plan.method)));
  const double reduce_ns = std::max(moved_ns / static_cast<double>(ranks - 1),
                                    costs.read_ns(theirs, far, 0, others, plan.method));
  const auto fetched_ns = [&](int at_once) {
    return costs.read_ns(theirs, far, 0, at_once, plan.method->in);
  };
  const auto [fetch_ns, result_bytes] = [&]() -> std::pair<double, std::size_t> {
    switch (aim) {
      case ReductionTarget::Kind::to_all:
      case ReductionTarget::Kind::inclusive:
      case ReductionTarget::Kind::exclusive:
        return {fetched_ns(others), returned ? theirs : mine};
      case ReductionTarget::Kind::to_one:
        return {fetched_ns(0), mine};
      case ReductionTarget::Kind::to_each:
        return {0, 0};
    }
    return {};
  }();
  const double result_ns = costs.by_all_ns(costs.write_ns(
      result_bytes, buffers, 0, far, returned ? memory::by_ping_pong : plan.method->in));
  const double flags_ns = costs.flags_to_first_ns();
  const double waits = (returned ? 2 : 3) * ceil_div(bytes, chunk) + 1;
  return shown_ns + reduce_ns + (result_bytes == 0 ? 0 : result_ns) + fetch_ns + waits * flags_ns;
}

std::vector<Algorithm> reduce_algorithms(Operation operation, const TeamResources& resources) {
  const std::string in_slots = "elements that fit into a slot";
  const std::string all_in_a_slot =
      fmt::format("at most {} for all blocks together",
                  size_text(static_cast<double>(resources.exchange.capacity_bytes)));
  std::vector<Algorithm> list = {described<node::ExchangeReduce::Plan>(
      reduces_to_blocks(operation) ? all_in_a_slot : in_slots, add_exchange)};
  if (is_whole(operation)) list.push_back(described<TreeReduce::Plan>(in_slots, add_tree));
  list.push_back(described<SlicedReduce::Plan>("elements that fit into a slice", add_sliced));
  return list;
}

}  // namespace huddle::select

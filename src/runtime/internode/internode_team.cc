// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/internode_team.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/context/errors.h"
#include "runtime/internode/messages.h"

namespace huddle::internode {
namespace {

// Size of the largest element of a built-in type. Every algorithm supports such elements.
constexpr std::size_t largest_usual_element = 2 * sizeof(long double);

constexpr std::string_view inside_only = "nodes";
constexpr std::string_view by_pairs = "nodes: pairwise";

bool moves_nothing(const team::CallArguments& arguments) {
  return arguments.bytes == 0 && arguments.operation != select::Operation::barrier &&
         !select::has_pairwise_sizes(arguments.operation);
}

team::CallArguments reduction_arguments(select::Operation operation, std::size_t count,
                                        const memory::Reduction& reduction, int root = 0) {
  return {operation, root, count * reduction.element_bytes, reduction.element_bytes};
}

}  // namespace

// The schedule chosen for one kind of call.
struct Team::Plan {
  schedules::Operation operation;
  int root;
  std::size_t count;
  std::size_t element_bytes;
  schedules::Sizes blocks;  // by node, if each node has a block
  int leaders;
  Chosen chosen;
  std::string words;
};

Team::Team(Parts parts)
    : parts_(std::move(parts)),
      node_(parts_.map.node_of(parts_.rank)),
      place_(parts_.map.place_of(parts_.rank)),
      call_check_(*parts_.wire, parts_.map, parts_.rank),
      node_part_(*parts_.node, *parts_.wire, parts_.map, node_, place_) {
  parts_.node->waiting().set_further_check([this] { call_check_.check(); });
}

Team::~Team() = default;

// Any exception makes the team unusable: messages may be in flight, and other nodes do not know of
// the exception.
template <typename Steps>
void Team::run(const team::CallArguments& arguments, const Steps& steps) {
  const bool is_idle = moves_nothing(arguments);
  if (lost_.is_any()) {
    if (is_idle) return;
    throw context::PeerLost(lost_.text());
  }
  if (!is_idle) {
    latest_ = inside_only;
    unserved_ = {};
  }
  try {
    call_check_.begin(arguments);
    parts_.node->note_enclosing_call(arguments, is_idle);
    if (!is_idle) steps();
  } catch (const context::CallsDiffer& error) {
    fail_because_calls_differ(error);
  } catch (const context::SizesDiffer& error) {
    fail_because_calls_differ({error.what(), true});
  } catch (const context::PeerLost& error) {
    lose(error.what());
    throw;
  } catch (const std::exception& error) {
    abandon(error.what());
    throw context::PeerLost(error.what());
  } catch (...) {
    abandon(
        "a collective call was not completed, because its thread ended or a callback threw an "
        "exception");
    throw;
  }
}

void Team::lose(std::string_view why) {
  lost_ = team::RankError(why);
  call_check_.cancel();
  parts_.node->abandon(why);
}

void Team::fail_because_calls_differ(const context::CallsDiffer& error) {
  lose(error.what());
  call_check_.report(error.what(), error.are_sizes());
  throw error;
}

void Team::abandon(std::string_view why) {
  if (lost_.is_any()) return;
  lose(why);
  call_check_.report(why, false);
}

bool Team::can_reduce(const memory::Reduction& reduction) const {
  return (reduction.commutative || parts_.map.is_in_order()) &&
         reduction.element_bytes <= largest_usual_element;
}

void Team::barrier() {
  run({select::Operation::barrier}, [&] {
    node_part_.gather_barrier();
    if (is_first()) between({schedules::Operation::barrier, parts_.map.nodes()}, {}, {}, -1);
    node_part_.release_barrier();
  });
}

void Team::bcast(void* buffer, std::size_t bytes, int root) {
  run({select::Operation::bcast, root, bytes}, [&] {
    const Sharing sharing = sharing_of(select::Operation::bcast, bytes);
    bcast_shared(static_cast<std::byte*>(buffer), bytes, root, sharing);
  });
}

void Team::allreduce(const void* input, void* output, std::size_t count,
                     const memory::Reduction& reduction) {
  run(reduction_arguments(select::Operation::allreduce, count, reduction), [&] {
    const Sharing sharing =
        sharing_of(select::Operation::allreduce, count * reduction.element_bytes);
    allreduce_shared(static_cast<const std::byte*>(input), static_cast<std::byte*>(output), count,
                     reduction, sharing);
  });
}

// Combines contributions in the same order as an allreduce, for any root
// (schedules/reduction_tree.h).
void Team::reduce(const void* input, void* output, std::size_t count,
                  const memory::Reduction& reduction, int root) {
  run(reduction_arguments(select::Operation::reduce, count, reduction, root), [&] {
    const int speaker = speaker_for(root);
    const bool is_root = parts_.rank == root;
    MessageBuffer combined_here;
    if (place_ == speaker && !is_root) combined_here.resize(count * reduction.element_bytes);
    auto* const combined = is_root ? static_cast<std::byte*>(output) : combined_here.data();
    node_part_.reduce(input, combined, count, reduction, speaker);
    if (place_ != speaker) return;
    const Demand demand{schedules::Operation::reduce, parts_.map.nodes(), parts_.map.node_of(root),
                        count, reduction.element_bytes};
    schedules::CallData data;
    data.input.bytes = combined;
    data.output.bytes = combined;
    between(demand, data, reduction, root);
  });
}

void Team::reduce_scatter(const void* input, void* output, const node::Blocks& blocks,
                          const memory::Reduction& reduction) {
  const std::size_t count = blocks.total(parts_.map.ranks());
  run(reduction_arguments(select::Operation::reduce_scatter, count, reduction), [&] {
    const std::size_t element = reduction.element_bytes;
    std::vector<node::Block> in_bytes;
    for (int rank = 0; rank < parts_.map.ranks(); ++rank) {
      const node::Block block = blocks.of(rank);
      in_bytes.push_back(
          {block.offset * static_cast<std::ptrdiff_t>(element), block.bytes * element});
    }
    const std::size_t own_bytes = in_bytes[static_cast<std::size_t>(parts_.rank)].bytes;
    if (!is_first()) {
      node_part_.reduce(input, nullptr, count, reduction, 0);
      node_part_.scatterv(nullptr, {}, output, own_bytes, 0);
      return;
    }
    const node::Blocks listed = node::Blocks::listed(in_bytes);
    const NodeOrder order(parts_.map, listed);
    MessageBuffer combined(order.bytes());
    node_part_.reduce(input, combined.data(), count, reduction, 0);
    if (!order.is_as_given()) {
      MessageBuffer ordered(order.bytes());
      order.pack(combined.data(), ordered.data());
      combined = std::move(ordered);
    }
    MessageBuffer of_node(order.bytes_of(node_));
    const schedules::Sizes sizes = order.sizes();
    const Demand demand{
        schedules::Operation::reduce_scatter, parts_.map.nodes(), 0, count, element, &sizes};
    schedules::CallData data;
    data.input.bytes = combined.data();
    data.output.bytes = of_node.data();
    data.output.first = node_;
    between(demand, data, reduction, -1);
    const std::vector<node::Block> here = blocks_of_node(parts_.map, node_, listed);
    node_part_.scatterv(of_node.data(), node::Blocks::listed(here), output, own_bytes, 0);
  });
}

// Between nodes, the blocks of a node are sent as one contiguous block. If they are not contiguous
// in the output, the receivers reorder them.
void Team::allgather(const void* input, void* output, std::size_t bytes) {
  run({select::Operation::allgather, 0, bytes}, [&] {
    const NodeOrder order(parts_.map, bytes);
    auto* const all = static_cast<std::byte*>(output);
    if (!is_first()) {
      node_part_.gather(input, nullptr, bytes, 0);
    } else {
      MessageBuffer aside(order.is_as_given() ? 0 : order.bytes());
      std::byte* const ordered = order.is_as_given() ? all : aside.data();
      node_part_.gather(input, ordered + order.start_of(node_), bytes, 0);
      exchange_blocks(ordered, order);
      if (!order.is_as_given()) order.unpack(ordered, all);
    }
    node_part_.bcast(output, order.bytes(), 0);
  });
}

void Team::allgatherv(const void* input, void* output, const node::Blocks& blocks) {
  run({select::Operation::allgatherv, 0, blocks.total(parts_.map.ranks())}, [&] {
    const NodeOrder order(parts_.map, blocks);
    auto* const all = static_cast<std::byte*>(output);
    MessageBuffer aside(order.is_as_given() ? 0 : order.bytes());
    std::byte* const ordered = order.is_as_given() ? all + order.first_offset() : aside.data();
    const std::size_t own_bytes = blocks.of(parts_.rank).bytes;
    if (is_first()) {
      const std::vector<node::Block> here = blocks_of_node(parts_.map, node_, blocks);
      node_part_.gatherv(input, own_bytes, ordered + order.start_of(node_),
                         node::Blocks::listed(here), 0);
      exchange_blocks(ordered, order);
    } else {
      node_part_.gatherv(input, own_bytes, nullptr, {}, 0);
    }
    node_part_.bcast(ordered, order.bytes(), 0);
    if (!order.is_as_given()) order.unpack(ordered, all);
  });
}

void Team::exchange_blocks(std::byte* ordered, const NodeOrder& order) {
  const schedules::Sizes sizes = order.sizes();
  const Demand demand{
      schedules::Operation::allgather, parts_.map.nodes(), 0, order.bytes(), 1, &sizes};
  schedules::CallData data;
  data.output.bytes = ordered;
  data.input.bytes = ordered + order.start_of(node_);
  between(demand, data, {}, -1);
}

void Team::gather(const void* input, void* output, std::size_t bytes, int root) {
  run({select::Operation::gather, root, bytes}, [&] {
    const int speaker = speaker_for(root);
    if (place_ != speaker) return node_part_.gather(input, nullptr, bytes, speaker);
    const NodeOrder order(parts_.map, bytes);
    const bool is_root = parts_.rank == root;
    auto* const all = static_cast<std::byte*>(output);
    const bool is_in_output = is_root && order.is_as_given();
    MessageBuffer aside;
    if (!is_in_output) aside.resize(is_root ? order.bytes() : order.bytes_of(node_));
    std::byte* const ordered = is_in_output ? all : aside.data();
    std::byte* const here = is_root ? ordered + order.start_of(node_) : ordered;
    node_part_.gather(input, here, bytes, speaker);
    const schedules::Sizes sizes = order.sizes();
    const Demand demand{schedules::Operation::gather,
                        parts_.map.nodes(),
                        parts_.map.node_of(root),
                        order.bytes(),
                        1,
                        &sizes};
    schedules::CallData data;
    data.input.bytes = here;
    data.input.first = node_;
    data.output.bytes = is_root ? ordered : nullptr;
    between(demand, data, {}, root);
    if (is_root && !is_in_output) order.unpack(ordered, all);
  });
}

void Team::scatter(const void* input, void* output, std::size_t bytes, int root) {
  run({select::Operation::scatter, root, bytes}, [&] {
    const int speaker = speaker_for(root);
    if (place_ != speaker) return node_part_.scatter(nullptr, output, bytes, speaker);
    const NodeOrder order(parts_.map, bytes);
    const bool is_root = parts_.rank == root;
    const auto* ordered = static_cast<const std::byte*>(input);
    MessageBuffer aside;
    if (!is_root) aside.resize(order.bytes_of(node_));
    if (is_root && !order.is_as_given()) {
      aside.resize(order.bytes());
      order.pack(ordered, aside.data());
      ordered = aside.data();
    }
    const schedules::Sizes sizes = order.sizes();
    const Demand demand{schedules::Operation::scatter,
                        parts_.map.nodes(),
                        parts_.map.node_of(root),
                        order.bytes(),
                        1,
                        &sizes};
    const std::byte* const here = is_root ? ordered + order.start_of(node_) : aside.data();
    schedules::CallData data;
    data.input.bytes = is_root ? ordered : nullptr;
    // On the root's node the schedule does not write the output, which already contains the node's
    // block.
    data.output.bytes = const_cast<std::byte*>(here);
    data.output.first = node_;
    between(demand, data, {}, root);
    // A scatter that is in place at the root remains in place within the node, even if the root has
    // reordered its blocks.
    const auto* const given = static_cast<const std::byte*>(input);
    const bool in_place = is_root && output == given + bytes * static_cast<std::size_t>(root);
    auto* const own = const_cast<std::byte*>(here) + bytes * static_cast<std::size_t>(place_);
    node_part_.scatter(here, in_place ? own : output, bytes, speaker);
  });
}

// Throws SizesDiffer only after the exchange is complete, so that the team remains usable.
template <typename NodePart>
void Team::exchange_beside(const team::CallArguments& arguments, PairwiseExchange exchange,
                           const NodePart& node_part) {
  bool is_fine_here = true;
  bool is_truncated = false;
  run(arguments, [&] {
    latest_ = by_pairs;
    const auto node_part_and_sizes = [&] {
      try {
        node_part();
      } catch (const context::SizesDiffer&) {
        is_fine_here = false;
      }
    };
    is_truncated = finish(std::make_unique<PairwiseExchange>(std::move(exchange)),
                          parts_.node->waiting(), node_part_and_sizes)
                       ->is_truncated();
  });
  if (is_fine_here && !is_truncated) return;
  throw context::SizesDiffer("a rank sends another number of bytes than this one expects");
}

std::vector<node::Block> Team::blocks_here(const node::Blocks& blocks) const {
  std::vector<node::Block> here;
  for (int place = 0; place < parts_.map.ranks_on(node_); ++place) {
    here.push_back(blocks.of(parts_.map.rank_at(node_, place)));
  }
  return here;
}

void Team::gatherv(const void* input, std::size_t bytes, void* output, const node::Blocks& blocks,
                   int root) {
  const team::CallArguments arguments{select::Operation::gatherv, root};
  const int place = parts_.map.place_of(root);
  if (!is_root_here(root)) {
    const auto* const mine = static_cast<const std::byte*>(input);
    return exchange_beside(arguments, PairwiseExchange::to_one(ends(), root, mine, bytes), [] {});
  }
  if (parts_.rank != root) {
    return run(arguments, [&] { node_part_.gatherv(input, bytes, nullptr, {}, place); });
  }
  const PairwiseExchange::Data data{nullptr, {}, static_cast<std::byte*>(output), blocks};
  exchange_beside(arguments, PairwiseExchange(ends(), data), [&] {
    const std::vector<node::Block> here = blocks_here(blocks);
    node_part_.gatherv(input, bytes, output, node::Blocks::listed(here), place);
  });
}

void Team::scatterv(const void* input, const node::Blocks& blocks, void* output, std::size_t bytes,
                    int root) {
  const team::CallArguments arguments{select::Operation::scatterv, root};
  const int place = parts_.map.place_of(root);
  if (!is_root_here(root)) {
    auto* const mine = static_cast<std::byte*>(output);
    return exchange_beside(arguments, PairwiseExchange::from_one(ends(), root, mine, bytes), [] {});
  }
  const auto in_node = [&] {
    const bool is_root = parts_.rank == root;
    const std::vector<node::Block> here =
        is_root ? blocks_here(blocks) : std::vector<node::Block>();
    node_part_.scatterv(input, node::Blocks::listed(here), output, bytes, place);
  };
  if (parts_.rank != root) return exchange_beside(arguments, PairwiseExchange(ends(), {}), in_node);
  const PairwiseExchange::Data data{static_cast<const std::byte*>(input), blocks, nullptr, {}};
  exchange_beside(arguments, PairwiseExchange(ends(), data), in_node);
}

void Team::alltoallv(const void* input, const node::Blocks& outgoing, void* output,
                     const node::Blocks& incoming) {
  const PairwiseExchange::Data data{static_cast<const std::byte*>(input), outgoing,
                                    static_cast<std::byte*>(output), incoming};
  exchange_beside({select::Operation::alltoallv}, PairwiseExchange(ends(), data), [&] {
    const std::vector<node::Block> to = blocks_here(outgoing);
    const std::vector<node::Block> from = blocks_here(incoming);
    node_part_.alltoallv(input, node::Blocks::listed(to), output, node::Blocks::listed(from));
  });
}

// The first rank of a node gets the result from the first ranks of the preceding nodes and
// broadcasts it to its node.
MessageBuffer Team::joined_before(const void* input, std::size_t count,
                                  const memory::Reduction& reduction) {
  const std::size_t bytes = count * reduction.element_bytes;
  MessageBuffer before(node_ == 0 && !is_first() ? 0 : bytes);
  MessageBuffer of_node(is_first() ? bytes : 0);
  node_part_.reduce(input, of_node.data(), count, reduction, 0);
  if (is_first()) {
    const Demand demand{schedules::Operation::exscan, parts_.map.nodes(), 0, count,
                        reduction.element_bytes};
    schedules::CallData data;
    data.input.bytes = of_node.data();
    data.output.bytes = before.data();
    between(demand, data, reduction, -1);
  }
  if (node_ == 0) return MessageBuffer();
  node_part_.bcast(before.data(), bytes, 0);
  return before;
}

void Team::scan(const void* input, void* output, std::size_t count,
                const memory::Reduction& reduction) {
  run(reduction_arguments(select::Operation::scan, count, reduction), [&] {
    const MessageBuffer before = joined_before(input, count, reduction);
    node_part_.scan(input, output, count, reduction);
    if (!before.empty()) reduction(output, before.data(), output, count);
  });
}

void Team::exscan(const void* input, void* output, std::size_t count,
                  const memory::Reduction& reduction) {
  run(reduction_arguments(select::Operation::exscan, count, reduction), [&] {
    const MessageBuffer before = joined_before(input, count, reduction);
    node_part_.exscan(input, output, count, reduction);
    if (before.empty()) return;
    if (is_first()) {
      std::memcpy(output, before.data(), before.size());
    } else {
      reduction(output, before.data(), output, count);
    }
  });
}

// huddle accelerates an operation by pairs of ranks only inside a node, so some node must have
// several ranks. A prefix is passed from node to node, so the ranks of each node must be
// consecutive.
bool Team::handles(select::Operation operation) const {
  switch (way_between_nodes(operation)) {
    case Way::schedule:
      return true;
    case Way::pairs:
      return parts_.map.most_ranks_on_a_node() > 1;
    case Way::prefix:
      return parts_.map.is_in_order();
  }
  return false;
}

void Team::alltoall(const void* input, void* output, std::size_t bytes) {
  run({select::Operation::alltoall, 0, bytes}, [&] {
    const std::size_t of_rank = bytes * static_cast<std::size_t>(parts_.map.ranks());
    if (!is_first()) {
      node_part_.gather(input, nullptr, of_rank, 0);
      node_part_.scatter(nullptr, output, of_rank, 0);
      return;
    }
    const std::size_t of_node = of_rank * static_cast<std::size_t>(parts_.map.ranks_on(node_));
    MessageBuffer first(of_node);
    MessageBuffer second(of_node);
    node_part_.gather(input, first.data(), of_rank, 0);
    sort_by_target(first.data(), second.data(), bytes);
    exchange_pairs(second.data(), first.data(), bytes);
    sort_by_source(first.data(), second.data(), bytes);
    node_part_.scatter(second.data(), output, of_rank, 0);
  });
}

void Team::exchange_pairs(const std::byte* outgoing, std::byte* incoming, std::size_t bytes) {
  std::vector<std::size_t> own;
  for (int node = 0; node < parts_.map.nodes(); ++node) {
    own.push_back(bytes * static_cast<std::size_t>(parts_.map.ranks_on(node)) *
                  static_cast<std::size_t>(parts_.map.ranks_on(node_)));
  }
  const schedules::Sizes largest = largest_pair(parts_.map, bytes);
  const schedules::Sizes own_sizes = schedules::Sizes::listed(own);
  schedules::CallData data;
  data.input.bytes = outgoing;
  data.output.bytes = incoming;
  between(alltoall_demand(parts_.map, bytes, largest), data, {}, -1, &own_sizes);
}

// Reorders blocks from (local rank, target) to (target's node, local rank, target's place).
void Team::sort_by_target(const std::byte* gathered, std::byte* outgoing, std::size_t bytes) const {
  const auto ranks = static_cast<std::size_t>(parts_.map.ranks());
  const auto here = static_cast<std::size_t>(parts_.map.ranks_on(node_));
  parts_.map.for_each_run([&](int first, int count, int node, int place) {
    const auto there = static_cast<std::size_t>(parts_.map.ranks_on(node));
    for (std::size_t from = 0; from < here; ++from) {
      const std::size_t to = here * ranks_before(node) + from * there;
      std::memcpy(outgoing + (to + static_cast<std::size_t>(place)) * bytes,
                  gathered + (from * ranks + static_cast<std::size_t>(first)) * bytes,
                  static_cast<std::size_t>(count) * bytes);
    }
  });
}

// Sorts from (source's node, source's place, local rank) to (local rank, source).
void Team::sort_by_source(const std::byte* incoming, std::byte* for_here, std::size_t bytes) const {
  const auto ranks = static_cast<std::size_t>(parts_.map.ranks());
  const auto here = static_cast<std::size_t>(parts_.map.ranks_on(node_));
  parts_.map.for_each_run([&](int first, int count, int node, int place) {
    for (int i = 0; i < count; ++i) {
      const std::size_t from = (ranks_before(node) + static_cast<std::size_t>(place + i)) * here;
      for (std::size_t to = 0; to < here; ++to) {
        std::memcpy(for_here + (to * ranks + static_cast<std::size_t>(first + i)) * bytes,
                    incoming + (from + to) * bytes, bytes);
      }
    }
  });
}

int Team::speaker_for(int root) const {
  return parts_.map.node_of(root) == node_ ? parts_.map.place_of(root) : 0;
}

std::size_t Team::ranks_before(int node) const {
  return static_cast<std::size_t>(parts_.map.ranks_before(node));
}

std::unique_ptr<InterNodeTransfer> Team::start(const LeaderMap& speakers, const Demand& demand,
                                               const schedules::CallData& data,
                                               const memory::Reduction& reduction,
                                               const schedules::Sizes* own_blocks) {
  const Plan& plan = plan_for(demand, speakers.leaders.count());
  latest_ = plan.words;
  const std::string_view forced = parts_.forced.for_operation(demand.operation);
  if (plan.chosen.algorithm != forced) unserved_ = forced;
  schedules::CallData placed = data;
  if (demand.operation == schedules::Operation::allgather) {
    placed.input.first = plan.chosen.schedule->own_blocks(node_).first;
  }
  const schedules::Sizes& sizes = own_blocks != nullptr ? *own_blocks : plan.chosen.sizes;
  placed.input.sizes = sizes;
  placed.output.sizes = sizes;
  const ByNode by_node(*parts_.wire, parts_.map, parts_.traffic, speakers);
  return std::make_unique<InterNodeTransfer>(*plan.chosen.schedule, node_, placed, reduction,
                                             by_node,
                                             static_cast<std::size_t>(parts_.network.piece_bytes));
}

void Team::between(const Demand& demand, const schedules::CallData& data,
                   const memory::Reduction& reduction, int root_rank,
                   const schedules::Sizes* own_blocks) {
  finish(start({Leaders(parts_.map), 0, root_rank}, demand, data, reduction, own_blocks),
         parts_.node->waiting());
}

const Team::Plan& Team::plan_for(const Demand& demand, int leaders) {
  const auto known = std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) {
    return plan->operation == demand.operation && plan->root == demand.root &&
           plan->count == demand.count && plan->element_bytes == demand.element_bytes &&
           plan->leaders == leaders && (demand.blocks == nullptr || plan->blocks == *demand.blocks);
  });
  if (known != plans_.end()) {
    std::rotate(plans_.begin(), known, known + 1);
    return *plans_.front();
  }
  Demand asked = demand;
  asked.algorithm = parts_.forced.for_operation(demand.operation);
  Chosen chosen = cheapest(asked, parts_.network.shared_by(leaders));
  std::string words = fmt::format("nodes: {}", chosen.algorithm);
  if (leaders > 1) words += fmt::format(" by {} leaders", leaders);
  if (plans_.size() == most_remembered) plans_.pop_back();
  const schedules::Sizes blocks =
      demand.blocks == nullptr ? schedules::Sizes::equal(0) : *demand.blocks;
  plans_.insert(
      plans_.begin(),
      std::make_unique<Plan>(Plan{demand.operation, demand.root, demand.count, demand.element_bytes,
                                  blocks, leaders, std::move(chosen), std::move(words)}));
  return *plans_.front();
}

}  // namespace huddle::internode

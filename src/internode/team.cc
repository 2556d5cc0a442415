// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "internode/team.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "internode/waiting.h"
#include "world/peer_lost.h"

namespace huddle::internode {
namespace {

using net::Operation;

// Every algorithm takes elements of the types that huddle knows.
constexpr std::size_t largest_usual_element = 2 * sizeof(long double);

constexpr std::string_view inside_only = "nodes";

// Peers of a schedule are nodes, and each is stood for by one rank.
class ByNode : public net::Wire {
 public:
  // root_rank: stands for its node; -1: the first rank does there as well.
  ByNode(net::Wire& by_rank, const NodeMap& map, Traffic* traffic, int root_rank)
      : by_rank_(by_rank),
        map_(map),
        traffic_(traffic),
        root_node_(root_rank < 0 ? -1 : map.node_of(root_rank)),
        root_rank_(root_rank) {}

  Ticket send(int node, std::span<const std::byte> bytes) override {
    if (traffic_ != nullptr) traffic_->add(bytes.size());
    return by_rank_.send(rank_of(node), bytes);
  }
  Ticket receive(int node, std::span<std::byte> bytes) override {
    return by_rank_.receive(rank_of(node), bytes);
  }
  bool test(Ticket ticket) override { return by_rank_.test(ticket); }

 private:
  int rank_of(int node) const { return node == root_node_ ? root_rank_ : map_.rank_at(node, 0); }

  net::Wire& by_rank_;
  const NodeMap& map_;
  Traffic* traffic_;
  int root_node_;
  int root_rank_;
};

}  // namespace

// What was chosen for a call, for the next one like it.
struct Team::Plan {
  Operation operation;
  int root;
  std::size_t count;
  std::size_t element_bytes;
  Chosen chosen;
  std::string words;
};

Team::Team(Parts parts)
    : parts_(std::move(parts)),
      node_(parts_.map.node_of(parts_.rank)),
      place_(parts_.map.place_of(parts_.rank)),
      ranks_before_(1, 0) {
  for (int node = 0; node < parts_.map.nodes(); ++node) {
    ranks_before_.push_back(ranks_before_.back() +
                            static_cast<std::size_t>(parts_.map.ranks_on(node)));
  }
}

Team::~Team() = default;

// Whatever ends a call in the middle: messages may stand anywhere then, and other nodes do not
// know.
template <typename Steps>
void Team::run(const Steps& steps) {
  if (lost_.is_any()) throw world::PeerLost(lost_.text());
  latest_ = inside_only;
  try {
    steps();
  } catch (const std::exception& error) {
    give_up(error.what());
    throw world::PeerLost(error.what());
  } catch (...) {
    give_up("a collective was left in the middle");
    throw;
  }
}

void Team::give_up(std::string_view why) {
  if (lost_.is_any()) return;
  lost_ = team::Trouble(why);
  parts_.node->give_up(why);
}

bool Team::can_join(const memory::Reduction& reduction) const {
  return (reduction.commutative || parts_.map.is_in_order()) &&
         reduction.element_bytes <= largest_usual_element;
}

void Team::barrier() {
  run([&] {
    parts_.node->barrier();
    if (is_first()) between({Operation::barrier, parts_.map.nodes()}, {}, {}, -1);
    parts_.node->barrier();
  });
}

// The root speaks for its node: it sends before its node has the data, for the others are farther.
void Team::bcast(void* buffer, std::size_t bytes, int root) {
  if (bytes == 0) return;
  run([&] {
    const int root_node = parts_.map.node_of(root);
    const int speaker = node_ == root_node ? parts_.map.place_of(root) : 0;
    if (place_ == speaker) {
      const Demand demand{Operation::bcast, parts_.map.nodes(), root_node, bytes, 1};
      net::CallData data;
      data.output.bytes = static_cast<std::byte*>(buffer);
      between(demand, data, {}, root);
    }
    parts_.node->bcast(buffer, bytes, speaker);
  });
}

// What the node's ranks have joined is joined in the order of the nodes' first ranks.
void Team::allreduce(const void* input, void* output, std::size_t count,
                     const memory::Reduction& reduction) {
  if (count == 0) return;
  run([&] {
    parts_.node->reduce(input, output, count, reduction, 0);
    if (is_first()) {
      const Demand demand{Operation::allreduce, parts_.map.nodes(), 0, count,
                          reduction.element_bytes};
      net::CallData data;
      data.output.bytes = static_cast<std::byte*>(output);
      data.input.bytes = data.output.bytes;
      between(demand, data, reduction, -1);
    }
    parts_.node->bcast(output, count * reduction.element_bytes, 0);
  });
}

void Team::allgather(const void* input, void* output, std::size_t bytes) {
  if (bytes == 0) return;
  run([&] {
    auto* const all = static_cast<std::byte*>(output);
    if (parts_.map.is_in_order()) {
      gather_in_order(input, all, bytes);
    } else {
      gather_scattered(input, all, bytes);
    }
    parts_.node->bcast(output, bytes * static_cast<std::size_t>(parts_.map.ranks()), 0);
  });
}

// Blocks of a node lie side by side in the output.
void Team::gather_in_order(const void* input, std::byte* output, std::size_t bytes) {
  parts_.node->gather(input, output + ranks_before(node_) * bytes, bytes, 0);
  if (is_first()) exchange_blocks(output, bytes);
}

// They are sent node by node, and taken apart where they have arrived.
void Team::gather_scattered(const void* input, std::byte* output, std::size_t bytes) {
  if (!is_first()) return parts_.node->gather(input, nullptr, bytes, 0);
  std::vector<std::byte> by_node(bytes * static_cast<std::size_t>(parts_.map.ranks()));
  parts_.node->gather(input, by_node.data() + ranks_before(node_) * bytes, bytes, 0);
  exchange_blocks(by_node.data(), bytes);
  parts_.map.for_each_run([&](int first, int count, int node, int place) {
    const std::size_t from = ranks_before(node) + static_cast<std::size_t>(place);
    std::memcpy(output + static_cast<std::size_t>(first) * bytes, by_node.data() + from * bytes,
                static_cast<std::size_t>(count) * bytes);
  });
}

void Team::exchange_blocks(std::byte* by_node, std::size_t bytes) {
  std::vector<std::size_t> listed;
  for (int node = 0; node < parts_.map.nodes(); ++node) {
    listed.push_back(bytes * static_cast<std::size_t>(parts_.map.ranks_on(node)));
  }
  const net::Sizes sizes = net::Sizes::listed(listed);
  const Demand demand{Operation::allgather, parts_.map.nodes(), 0, bytes, 1, &sizes};
  net::CallData data;
  data.output.bytes = by_node;
  data.input.bytes = by_node + ranks_before(node_) * bytes;
  data.input.first = node_;
  between(demand, data, {}, -1);
}

std::size_t Team::ranks_before(int node) const {
  return ranks_before_[static_cast<std::size_t>(node)];
}

void Team::between(const Demand& demand, const net::CallData& data,
                   const memory::Reduction& reduction, int root_rank) {
  const Plan& plan = plan_for(demand);
  latest_ = plan.words;
  net::CallData placed = data;
  placed.input.sizes = plan.chosen.sizes;
  placed.output.sizes = plan.chosen.sizes;
  ByNode wire(*parts_.wire, parts_.map, parts_.traffic, root_rank);
  finish(std::make_unique<net::Execution>(*plan.chosen.schedule, node_, placed, reduction, wire),
         parts_.node->waiting());
}

// Programs make the same calls again and again.
const Team::Plan& Team::plan_for(const Demand& demand) {
  const auto known = std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) {
    return plan->operation == demand.operation && plan->root == demand.root &&
           plan->count == demand.count && plan->element_bytes == demand.element_bytes;
  });
  if (known != plans_.end()) {
    std::rotate(plans_.begin(), known, known + 1);
    return *plans_.front();
  }
  Chosen chosen = cheapest(demand, parts_.network);
  std::string words = fmt::format("nodes: {}", chosen.algorithm);
  constexpr std::size_t most_plans = 64;
  if (plans_.size() == most_plans) plans_.pop_back();
  plans_.insert(plans_.begin(), std::make_unique<Plan>(Plan{demand.operation, demand.root,
                                                            demand.count, demand.element_bytes,
                                                            std::move(chosen), std::move(words)}));
  return *plans_.front();
}

}  // namespace huddle::internode

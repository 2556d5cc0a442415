// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/internode/node_discovery.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string_view>

#include "runtime/context/waiting.h"
#include "runtime/internode/messages.h"
#include "runtime/internode/node_map.h"
#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/execution.h"

namespace huddle::internode {
team::Bootstrap NodeBootstrap::bootstrap() {
  return {place_, ranks(),
          [this](std::span<const std::byte> mine, std::span<std::byte> all) { gather(mine, all); }};
}

void NodeBootstrap::gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  run(schedules::Operation::allgather, 0, mine.size(), mine.data(), all.data());
}

void NodeBootstrap::bcast(std::span<std::byte> bytes, int root) {
  run(schedules::Operation::bcast, root, bytes.size(), bytes.data(), bytes.data());
}

// Uses the algorithm with the fewest rounds. Waits as if ranks were oversubscribed, because it is
// not known yet which ranks share a hardware thread.
void NodeBootstrap::run(schedules::Operation operation, int root, std::size_t block_bytes,
                        const std::byte* input, std::byte* output) {
  const bool gathers = operation == schedules::Operation::allgather;
  const schedules::Algorithm& algorithm =
      schedules::algorithm_named(gathers ? "allgather:bruck" : "bcast:knomial");
  const auto schedule = schedules::make_schedule(algorithm, {.ranks = ranks(), .root = root});
  const auto data = schedules::CallData::of(operation, place_, schedules::Sizes::equal(block_bytes),
                                            input, output);
  SomeRanks wire(wire_, here_);
  context::Waiting waiting({.oversubscribed = true}, nullptr, nullptr);
  finish(std::make_unique<schedules::Execution>(*schedule, place_, data, memory::Reduction{}, wire),
         waiting);
}

namespace {

// It is not known yet which ranks share a hardware thread.
context::Waiting patient() { return {{.oversubscribed = true}, nullptr, nullptr}; }

void run(std::string_view algorithm, const schedules::Call& call, int rank,
         const schedules::CallData& data, const memory::Reduction& reduction,
         schedules::Wire& wire) {
  const auto schedule = schedules::make_schedule(schedules::algorithm_named(algorithm), call);
  context::Waiting waiting = patient();
  finish(std::make_unique<schedules::Execution>(*schedule, rank, data, reduction, wire), waiting);
}

void wait_for(schedules::Wire& wire, schedules::Wire::Ticket ticket) {
  if (wire.test(ticket)) return;
  context::Waiting waiting = patient();
  context::Wait wait(waiting);
  do {
    wait.spend();
  } while (!wire.test(ticket));
}

template <class T>
void send(schedules::Wire& wire, int peer, const T& sent) {
  wait_for(wire, wire.send(peer, std::as_bytes(std::span(sent))));
}

template <class T>
void receive(schedules::Wire& wire, int peer, T& received) {
  wait_for(wire, wire.receive(peer, std::as_writable_bytes(std::span(received))));
}

// If an exception ends the steps, the buffers are leaked because messages may still arrive in them.
template <class Letters, class Steps>
void or_leave(std::unique_ptr<Letters>& letters, const Steps& steps) {
  try {
    steps(*letters);
  } catch (...) {
    static_cast<void>(letters.release());
    throw;
  }
}

}  // namespace

// Nodes are numbered by their lowest ranks, so all ranks below the lowest rank of the second node
// are on the first node. If these are all ranks of the first node, they are consecutive. The same
// holds for the other nodes.
bool RankPlaces::are_in_order() const {
  return std::equal(first_ranks.begin(), first_ranks.end(), starts.begin());
}

void SetUpExchange::combine(std::span<std::byte> fact, memory::CombineFunction* combine_pair) {
  schedules::CallData data;
  data.output = {fact.data(), schedules::Sizes::cut(1, fact.size(), 1), 0};
  data.input = {fact.data(), data.output.sizes, 0};
  const memory::Reduction reduction{combine_pair, nullptr, fact.size(), false};
  run("allreduce:doubling", {.ranks = ranks_}, rank_, data, reduction, wire_);
}

void SetUpExchange::bcast(std::span<std::byte> bytes, int root) {
  const auto data =
      schedules::CallData::of(schedules::Operation::bcast, rank_,
                              schedules::Sizes::equal(bytes.size()), bytes.data(), bytes.data());
  run("bcast:knomial", {.ranks = ranks_, .root = root}, rank_, data, {}, wire_);
}

// Both inputs are sorted by key.
std::vector<SetUpExchange::NodeCount> SetUpExchange::merged(const std::vector<NodeCount>& lower,
                                                            const std::vector<NodeCount>& higher) {
  std::size_t in_both = 0;
  for (std::size_t i = 0, j = 0; i < lower.size() && j < higher.size();) {
    if (lower[i].key == higher[j].key) ++in_both;
    const bool next = lower[i].key <= higher[j].key;
    if (higher[j].key <= lower[i].key) ++j;
    if (next) ++i;
  }
  std::vector<NodeCount> all;
  all.reserve(lower.size() + higher.size() - in_both);
  auto left = lower.begin();
  auto right = higher.begin();
  while (left != lower.end() || right != higher.end()) {
    if (right == higher.end() || (left != lower.end() && left->key < right->key)) {
      all.push_back(*left++);
    } else if (left == lower.end() || right->key < left->key) {
      all.push_back(*right++);
    } else {
      all.push_back({left->key, left->first, left->ranks + right->ranks});
      ++left;
      ++right;
    }
  }
  return all;
}

// Merges the nodes of all ranks up a binomial tree to rank 0, which sorts them by first rank and
// broadcasts the result.
std::vector<SetUpExchange::NodeCount> SetUpExchange::count_nodes(std::uint64_t key) {
  struct Letters {
    std::array<std::uint64_t, 1> number = {};
    std::vector<NodeCount> nodes;
    std::vector<NodeCount> of_higher;
  };
  auto held = std::make_unique<Letters>();
  or_leave(held, [&](Letters& letters) {
    auto& [number, nodes, of_higher] = letters;
    nodes.push_back({key, rank_, 1});
    for (std::int64_t distance = 1; distance < ranks_; distance *= 2) {
      if ((rank_ & distance) != 0) {
        const int lower = static_cast<int>(rank_ - distance);
        number.front() = nodes.size();
        send(wire_, lower, number);
        send(wire_, lower, nodes);
        break;
      }
      if (rank_ + distance >= ranks_) continue;
      const int higher = static_cast<int>(rank_ + distance);
      receive(wire_, higher, number);
      of_higher.resize(number.front());
      receive(wire_, higher, of_higher);
      nodes = merged(nodes, of_higher);
      of_higher = {};
    }
    std::sort(nodes.begin(), nodes.end(),
              [](const NodeCount& a, const NodeCount& b) { return a.first < b.first; });
    number.front() = nodes.size();
    bcast(std::as_writable_bytes(std::span(number)), 0);
    nodes.resize(number.front());
    bcast(std::as_writable_bytes(std::span(nodes)), 0);
  });
  return std::move(held->nodes);
}

RankPlaces SetUpExchange::find_places(std::uint64_t key, RankWire& hails) {
  RankPlaces places;
  {
    const std::vector<NodeCount> nodes = count_nodes(key);
    places.starts.reserve(nodes.size() + 1);
    places.starts.push_back(0);
    places.first_ranks.reserve(nodes.size());
    for (const NodeCount& node : nodes) {
      if (node.key == key) places.node = places.nodes();
      places.first_ranks.push_back(node.first);
      places.starts.push_back(places.starts.back() + node.ranks);
    }
  }
  const auto node = static_cast<std::size_t>(places.node);
  const int first = places.first_ranks[node];
  const int ranks = places.starts[node + 1] - places.starts[node];
  if (places.are_in_order()) {
    places.here.resize(static_cast<std::size_t>(ranks));
    std::iota(places.here.begin(), places.here.end(), first);
  } else {
    places.here = ranks_of_node(first, ranks, hails);
  }
  places.place = static_cast<int>(std::lower_bound(places.here.begin(), places.here.end(), rank_) -
                                  places.here.begin());
  return places;
}

// Every rank knows the first rank of its node and sends it its own rank. The first rank, which
// knows only the number of ranks on its node, sends the list to all of them.
std::vector<int> SetUpExchange::ranks_of_node(int first, int ranks, RankWire& hails) {
  auto held = std::make_unique<std::vector<int>>(static_cast<std::size_t>(ranks), rank_);
  or_leave(held, [&](std::vector<int>& here) {
    if (rank_ != first) {
      send(hails, first, std::span(here).first(1));
      receive(hails, first, here);
      return;
    }
    std::vector<schedules::Wire::Ticket> tickets;
    for (int& other : std::span(here).subspan(1)) {
      tickets.push_back(hails.receive_from_any(std::as_writable_bytes(std::span(&other, 1))));
    }
    for (const schedules::Wire::Ticket ticket : tickets) wait_for(hails, ticket);
    std::sort(here.begin(), here.end());
    tickets.clear();
    for (const int other : std::span(here).subspan(1)) {
      tickets.push_back(hails.send(other, std::as_bytes(std::span(here))));
    }
    for (const schedules::Wire::Ticket ticket : tickets) wait_for(hails, ticket);
  });
  return std::move(*held);
}

void SetUpExchange::fill_table(const RankPlaces& places, std::span<int> table,
                               std::size_t slice_bytes) {
  const int nodes = places.nodes();
  const auto ranks_on = [&](int node) {
    const auto number = static_cast<std::size_t>(node);
    return static_cast<std::size_t>(places.starts[number + 1] - places.starts[number]);
  };
  std::size_t most = 0;
  for (int node = 0; node < nodes; ++node) most = std::max(most, ranks_on(node));
  const std::size_t of_a_place = std::max<std::size_t>(1, places.first_ranks.size()) * sizeof(int);
  const std::size_t step = std::max<std::size_t>(1, slice_bytes / of_a_place);
  SomeRanks wire(wire_, places.first_ranks);
  for (std::size_t place = 0; place < most; place += step) {
    std::vector<std::size_t> bytes;
    bytes.reserve(static_cast<std::size_t>(nodes));
    for (int node = 0; node < nodes; ++node) {
      bytes.push_back(std::min(step, std::max(ranks_on(node), place) - place) * sizeof(int));
    }
    const schedules::Sizes sizes = schedules::Sizes::listed(bytes);
    auto held = std::make_unique<std::vector<int>>(sizes.offset(nodes) / sizeof(int));
    or_leave(held, [&](std::vector<int>& slice) {
      const auto all = std::as_writable_bytes(std::span(slice));
      const auto own = all.subspan(sizes.offset(places.node), sizes.bytes(places.node));
      if (!own.empty()) std::memcpy(own.data(), places.here.data() + place, own.size());
      const auto data = schedules::CallData::of(schedules::Operation::allgather, places.node, sizes,
                                                own.data(), all.data());
      run("allgather:bruck", {.ranks = nodes}, places.node, data, {}, wire);
      auto next = slice.begin();
      for (int node = 0; node < nodes; ++node) {
        const auto number = static_cast<std::size_t>(node);
        const auto end = next + static_cast<std::ptrdiff_t>(bytes[number] / sizeof(int));
        const std::size_t to = static_cast<std::size_t>(places.starts[number]) + place;
        if (next != end) std::copy(next, end, table.begin() + static_cast<std::ptrdiff_t>(to));
        next = end;
      }
    });
  }
  NodeMap::complete(table, places.starts);
}

}  // namespace huddle::internode

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/internode/node_part.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/error.h"
#include "runtime/context/errors.h"
#include "runtime/internode/messages.h"
#include "runtime/node/reduction_order.h"
#include "runtime/select/explain.h"

namespace huddle::internode {
namespace {

// The exchange at the next distance starts only if fewer messages than this are in flight: enough
// to hide latencies, few enough for the MPI's memory. All ranks process distances in the same
// order, so all ranks have started the lowest unfinished distance, and there is no deadlock.
constexpr std::size_t most_pending = 128;

}  // namespace

PairwiseExchange::PairwiseExchange(const Ends& ends, const Data& data, int first_distance,
                                   int last_distance)
    : ends_(ends),
      data_(data),
      next_distance_(first_distance),
      last_distance_(last_distance),
      pending_(ends.wire) {}

PairwiseExchange::PairwiseExchange(const Ends& ends, const Data& data)
    : PairwiseExchange(ends, data, 1, ends.map.ranks() - 1) {
  if (data.input != nullptr && data.input == data.output) copy_outgoing();
}

PairwiseExchange PairwiseExchange::to_one(const Ends& ends, int peer, const std::byte* input,
                                          std::size_t bytes) {
  const int distance = (peer - ends.rank + ends.map.ranks()) % ends.map.ranks();
  return {ends, {input, node::Blocks::only(peer, bytes), nullptr, {}}, distance, distance};
}

PairwiseExchange PairwiseExchange::from_one(const Ends& ends, int peer, std::byte* output,
                                            std::size_t bytes) {
  const int distance = (ends.rank - peer + ends.map.ranks()) % ends.map.ranks();
  return {ends, {nullptr, {}, output, node::Blocks::only(peer, bytes)}, distance, distance};
}

bool PairwiseExchange::is_on_other_node(int rank) const {
  return ends_.map.node_of(rank) != ends_.map.node_of(ends_.rank);
}

int PairwiseExchange::at_distance(int distance) const {
  const int ranks = ends_.map.ranks();
  return (ends_.rank + distance + ranks) % ranks;
}

void PairwiseExchange::copy_outgoing() {
  const int ranks = ends_.map.ranks();
  copied_at_.resize(static_cast<std::size_t>(ranks));
  std::size_t end = 0;
  for (int peer = 0; peer < ranks; ++peer) {
    if (!is_on_other_node(peer)) continue;
    const std::size_t bytes = data_.outgoing.of(peer).bytes;
    copied_at_[static_cast<std::size_t>(peer)] = {static_cast<std::ptrdiff_t>(end), bytes};
    end += bytes;
  }
  copied_.resize(end);
  for (int peer = 0; peer < ranks; ++peer) {
    const node::Block& to = copied_at_[static_cast<std::size_t>(peer)];
    if (to.bytes == 0) continue;
    std::memcpy(copied_.data() + to.offset, data_.input + data_.outgoing.of(peer).offset, to.bytes);
  }
  data_.input = copied_.data();
  data_.outgoing = node::Blocks::listed(copied_at_);
}

void PairwiseExchange::start(int distance) {
  const int target = at_distance(distance);
  const int source = at_distance(-distance);
  if (is_on_other_node(source)) {
    const node::Block block = data_.incoming.of(source);
    pending_.receive(source, {data_.output + block.offset, block.bytes});
  }
  if (is_on_other_node(target)) {
    const node::Block block = data_.outgoing.of(target);
    if (ends_.traffic != nullptr && block.bytes > 0) ends_.traffic->add(block.bytes);
    pending_.send(target, {data_.input + block.offset, block.bytes});
  }
}

bool PairwiseExchange::advance() {
  while (true) {
    while (next_distance_ <= last_distance_ && pending_.size() < most_pending) {
      start(next_distance_++);
    }
    const std::size_t before = pending_.size();
    if (pending_.advance() && next_distance_ > last_distance_) return true;
    if (pending_.size() == before) return false;
  }
}

namespace {

const std::byte* bytes_of(const void* buffer) { return static_cast<const std::byte*>(buffer); }
std::byte* bytes_of(void* buffer) { return static_cast<std::byte*>(buffer); }

void place_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, bytes);
}

}  // namespace

// Runs by_team(), and if the team has no memory for its protocol, by_messages(). In that case all
// ranks of the node get the same error before any data have moved, so all of them change to
// messages.
template <typename ByTeam, typename ByMessages>
void NodePart::attempt(const ByTeam& by_team, const ByMessages& by_messages) {
  try {
    return by_team();
  } catch (const context::PeerLost&) {
    throw;
  } catch (const FailureError&) {
    if (team_.is_lost()) throw;
  }
  by_messages();
}

// Requires: Exchange is PendingMessages or has the same is_truncated().
template <typename Exchange>
void NodePart::finish_all(std::unique_ptr<Exchange> exchange) {
  if (!finish(std::move(exchange), team_.waiting())->is_truncated()) return;
  throw context::SizesDiffer("a rank sends more bytes than this one has room for");
}

void NodePart::send_to_root(const std::byte* input, std::size_t bytes, std::byte* output,
                            const node::Blocks& blocks, int root) {
  auto messages = std::make_unique<PendingMessages>(by_rank_);
  if (place_ != root) messages->send(rank_at(root), {input, bytes});
  for (int place = 0; place < ranks() && place_ == root; ++place) {
    const node::Block block = blocks.of(place);
    if (place == root) {
      place_bytes(output + block.offset, input, std::min(bytes, block.bytes));
    } else {
      messages->receive(rank_at(place), {output + block.offset, block.bytes});
    }
  }
  finish_all(std::move(messages));
}

void NodePart::send_from_root(const std::byte* input, const node::Blocks& blocks, std::byte* output,
                              std::size_t bytes, int root) {
  auto messages = std::make_unique<PendingMessages>(by_rank_);
  if (place_ != root) messages->receive(rank_at(root), {output, bytes});
  for (int place = 0; place < ranks() && place_ == root; ++place) {
    const node::Block block = blocks.of(place);
    if (place == root) {
      place_bytes(output, input + block.offset, std::min(bytes, block.bytes));
    } else {
      messages->send(rank_at(place), {input + block.offset, block.bytes});
    }
  }
  finish_all(std::move(messages));
}

// Uses a map in which each rank is on a node of its own, so that all ranks exchange messages.
void NodePart::send_to_each(const std::byte* input, const node::Blocks& outgoing, std::byte* output,
                            const node::Blocks& incoming) {
  std::vector<int> here(static_cast<std::size_t>(ranks()));
  for (int place = 0; place < ranks(); ++place)
    here[static_cast<std::size_t>(place)] = rank_at(place);
  std::vector<int> starts(here.size() + 1);
  std::iota(starts.begin(), starts.end(), 0);
  const NodeMap apart(std::move(starts));
  SomeRanks by_place(by_rank_, here);
  const PairwiseExchange::Ends ends{by_place, apart, place_, nullptr};
  auto exchange = std::make_unique<PairwiseExchange>(
      ends, PairwiseExchange::Data{input, outgoing, output, incoming});
  const node::Block to = outgoing.of(place_);
  const node::Block from = incoming.of(place_);
  place_bytes(output + from.offset, input + to.offset, std::min(to.bytes, from.bytes));
  finish_all(std::move(exchange));
}

// Reduces to each rank its block, counted in elements, in the same order as the team
// (node/reduction_order.h).
void NodePart::combine_blocks(const std::byte* input, std::byte* output, const node::Blocks& blocks,
                              const memory::Reduction& reduction) {
  const std::size_t element = reduction.element_bytes;
  std::vector<node::Block> outgoing;
  for (int place = 0; place < ranks(); ++place) {
    const node::Block block = blocks.of(place);
    outgoing.push_back(
        {block.offset * static_cast<std::ptrdiff_t>(element), block.bytes * element});
  }
  const std::size_t count = blocks.of(place_).bytes;
  const std::size_t bytes = count * element;
  MessageBuffer all(bytes * static_cast<std::size_t>(ranks()));
  send_to_each(input, node::Blocks::listed(outgoing), all.data(), node::Blocks::even(bytes));
  if (bytes == 0) return;
  const node::ReductionOrder& order = team_.group()->reduction_order();
  const auto of_place = [&](int place) {
    return all.data() + static_cast<std::size_t>(place) * bytes;
  };
  for (int block = 0; block < order.blocks(); ++block) {
    std::byte* const combined = of_place(order.first(block));
    for (int place = order.first(block) + 1; place < order.first(block + 1); ++place) {
      reduction(combined, combined, of_place(place), count);
    }
    if (block > 0) reduction(of_place(0), of_place(0), combined, count);
  }
  place_bytes(output, all.data(), bytes);
}

// Reduces prefixes in rank order on the first rank. If with_own is false, the first rank's output
// is not written.
void NodePart::combine_before(const std::byte* input, std::byte* output, std::size_t count,
                              const memory::Reduction& reduction, bool with_own) {
  const std::size_t bytes = count * reduction.element_bytes;
  MessageBuffer all(place_ == 0 ? bytes * static_cast<std::size_t>(ranks()) : 0);
  send_to_root(input, bytes, all.data(), node::Blocks::even(bytes), 0);
  for (std::size_t at = bytes; at < all.size(); at += bytes) {
    reduction(all.data() + at, all.data() + at - bytes, all.data() + at, count);
  }
  std::vector<node::Block> blocks;
  for (int place = 0; place < ranks(); ++place) {
    const int last = with_own ? place : place - 1;
    const auto offset = static_cast<std::ptrdiff_t>(bytes) * std::max(last, 0);
    blocks.push_back({offset, last < 0 ? 0 : bytes});
  }
  const std::size_t own_bytes = blocks[static_cast<std::size_t>(place_)].bytes;
  send_from_root(all.data(), node::Blocks::listed(blocks), output, own_bytes, 0);
}

// The first rank chooses, as in a team (team/group_configuration.h). It sends its plan by messages,
// which need no team memory.
const select::TreeBarrierPlan& NodePart::barrier_plan() {
  if (barrier_plan_) return *barrier_plan_;
  static_assert(std::is_trivially_copyable_v<select::TreeBarrierPlan>);
  select::TreeBarrierPlan plan = {};
  if (place_ == 0) {
    const select::Explanation explanation = team_.explain(
        {.operation = select::Operation::barrier, .barrier_phase = select::BarrierPhase::gather});
    plan = std::get<select::TreeBarrierPlan>(select::chosen(explanation).plan);
  }
  auto* const bytes = reinterpret_cast<std::byte*>(&plan);
  const std::vector<node::Block> same(static_cast<std::size_t>(ranks()), {0, sizeof plan});
  send_from_root(bytes, node::Blocks::listed(same), bytes, sizeof plan, 0);
  barrier_plan_ = plan;
  return *barrier_plan_;
}

void NodePart::run_barrier_phase(select::BarrierPhase phase) {
  team_.run_by(*barrier_, {.operation = select::Operation::barrier, .barrier_phase = phase});
}

void NodePart::gather_barrier() {
  if (ranks() == 1) return;
  const select::TreeBarrierPlan& plan = barrier_plan();
  attempt(
      [&] {
        if (!barrier_) barrier_ = team_.ready_by(plan);
        run_barrier_phase(select::BarrierPhase::gather);
        is_barrier_by_team_ = true;
      },
      [&] {
        is_barrier_by_team_ = false;
        const std::byte here{};
        std::vector<std::byte> all(static_cast<std::size_t>(ranks()));
        send_to_root(&here, 1, all.data(), node::Blocks::even(1), 0);
      });
}

void NodePart::release_barrier() {
  if (ranks() == 1) return;
  if (is_barrier_by_team_) return run_barrier_phase(select::BarrierPhase::release);
  std::byte leave{};
  const std::vector<std::byte> all(static_cast<std::size_t>(ranks()));
  send_from_root(all.data(), node::Blocks::even(1), &leave, 1, 0);
}

void NodePart::bcast(void* buffer, std::size_t bytes, int root) {
  attempt([&] { team_.bcast(buffer, bytes, root); },
          [&] {
            const std::vector<node::Block> same(static_cast<std::size_t>(ranks()), {0, bytes});
            send_from_root(bytes_of(buffer), node::Blocks::listed(same), bytes_of(buffer), bytes,
                           root);
          });
}

void NodePart::reduce(const void* input, void* output, std::size_t count,
                      const memory::Reduction& reduction, int root) {
  attempt([&] { team_.reduce(input, output, count, reduction, root); },
          [&] {
            combine_blocks(bytes_of(input), bytes_of(output), node::Blocks::only(root, count),
                           reduction);
          });
}

void NodePart::reduce_scatter(const void* input, void* output, const node::Blocks& blocks,
                              const memory::Reduction& reduction) {
  attempt([&] { team_.reduce_scatter(input, output, blocks, reduction); },
          [&] { combine_blocks(bytes_of(input), bytes_of(output), blocks, reduction); });
}

void NodePart::allgatherv(const void* input, void* output, const node::Blocks& blocks) {
  attempt([&] { team_.allgatherv(input, output, blocks); },
          [&] {
            const std::size_t bytes = blocks.of(place_).bytes;
            const std::vector<node::Block> to_all(static_cast<std::size_t>(ranks()), {0, bytes});
            // In place, copy the block once before the exchange starts, so that the exchange does
            // not copy it for each peer.
            const auto* own = bytes_of(input);
            MessageBuffer copied(input == output ? bytes : 0);
            if (!copied.empty()) {
              std::memcpy(copied.data(), own, bytes);
              own = copied.data();
            }
            send_to_each(own, node::Blocks::listed(to_all), bytes_of(output), blocks);
          });
}

void NodePart::gather(const void* input, void* output, std::size_t bytes, int root) {
  attempt([&] { team_.gather(input, output, bytes, root); },
          [&] {
            send_to_root(bytes_of(input), bytes, bytes_of(output), node::Blocks::even(bytes), root);
          });
}

void NodePart::gatherv(const void* input, std::size_t bytes, void* output,
                       const node::Blocks& blocks, int root) {
  attempt([&] { team_.gatherv(input, bytes, output, blocks, root); },
          [&] { send_to_root(bytes_of(input), bytes, bytes_of(output), blocks, root); });
}

void NodePart::scatter(const void* input, void* output, std::size_t bytes, int root) {
  attempt([&] { team_.scatter(input, output, bytes, root); },
          [&] {
            send_from_root(bytes_of(input), node::Blocks::even(bytes), bytes_of(output), bytes,
                           root);
          });
}

void NodePart::scatterv(const void* input, const node::Blocks& blocks, void* output,
                        std::size_t bytes, int root) {
  attempt([&] { team_.scatterv(input, blocks, output, bytes, root); },
          [&] { send_from_root(bytes_of(input), blocks, bytes_of(output), bytes, root); });
}

void NodePart::alltoallv(const void* input, const node::Blocks& outgoing, void* output,
                         const node::Blocks& incoming) {
  attempt([&] { team_.alltoallv(input, outgoing, output, incoming); },
          [&] { send_to_each(bytes_of(input), outgoing, bytes_of(output), incoming); });
}

void NodePart::scan(const void* input, void* output, std::size_t count,
                    const memory::Reduction& reduction) {
  attempt([&] { team_.scan(input, output, count, reduction); },
          [&] { combine_before(bytes_of(input), bytes_of(output), count, reduction, true); });
}

void NodePart::exscan(const void* input, void* output, std::size_t count,
                      const memory::Reduction& reduction) {
  attempt([&] { team_.exscan(input, output, count, reduction); },
          [&] { combine_before(bytes_of(input), bytes_of(output), count, reduction, false); });
}

}  // namespace huddle::internode

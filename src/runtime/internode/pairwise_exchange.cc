// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/internode/pairwise_exchange.h"

#include <cstring>

namespace huddle::internode {
namespace {

// Messages that are under way at once as another distance begins: enough to hide what one takes
// behind others, few enough for the MPI's memory. All ranks go through distances in the same order,
// and the least that is not done anywhere is under way on both its ranks: so nobody waits in a
// circle.
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

}  // namespace huddle::internode

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Calls whose data several leaders of each node share.
#include <algorithm>
#include <memory>
#include <vector>

#include "internode/finish.h"
#include "internode/message_buffer.h"
#include "internode/team.h"

namespace huddle::internode {

Sharing Team::sharing_of(select::Operation operation, std::size_t bytes) {
  if (parts_.sharing) return shared_on(parts_.map, *parts_.sharing);
  if (parts_.network.node_ns_per_mib == 0) return {};
  return verdict_on(operation, bytes).sharing;
}

// A leader joins its slice of what its node's ranks contribute, then of what the nodes have.
void Team::allreduce_shared(const std::byte* input, std::byte* output, std::size_t count,
                            const memory::Reduction& reduction, const Sharing& sharing) {
  const Leaders leaders(parts_.map, sharing.leaders);
  const std::size_t element = reduction.element_bytes;
  const auto place = static_cast<std::size_t>(place_);
  const std::vector<node::Block> elements = leaders.slices(node_, count, 1);
  const std::vector<node::Block> slices = leaders.slices(node_, count, element);
  const node::Block& own = slices[place];
  // In place, what a leader has joined would lie where it is still to be read.
  MessageBuffer aside(input == output ? own.bytes : 0);
  std::byte* const joined = aside.empty() ? output + own.offset : aside.data();
  node_part_.reduce_scatter(input, joined, node::Blocks::listed(elements), reduction);
  if (own.bytes > 0) {
    const Demand demand{net::Operation::allreduce, parts_.map.nodes(), 0, elements[place].bytes,
                        element};
    net::CallData data;
    data.output.bytes = joined;
    data.input.bytes = joined;
    finish(start({leaders, leaders.at(node_, place_)}, demand, data, reduction),
           parts_.node->waiting());
  }
  node_part_.allgatherv(joined, output, node::Blocks::listed(slices));
}

// The root's node has the data from the root, which only reads its own.
void Team::bcast_shared(std::byte* buffer, std::size_t bytes, int root, const Sharing& sharing) {
  const Leaders leaders(parts_.map, sharing.leaders);
  const std::vector<node::Block> slices = leaders.slices(node_, bytes, 1);
  const node::Block& own = slices[static_cast<std::size_t>(place_)];
  std::byte* const slice = buffer + own.offset;
  const int root_place = parts_.map.place_of(root);
  if (is_root_here(root)) {
    node_part_.scatterv(buffer, node::Blocks::listed(slices), slice, own.bytes, root_place);
  }
  if (own.bytes > 0) {
    const Demand demand{net::Operation::bcast, parts_.map.nodes(), parts_.map.node_of(root),
                        own.bytes, 1};
    net::CallData data;
    data.output.bytes = slice;
    finish(start({leaders, leaders.at(node_, place_)}, demand, data, {}), parts_.node->waiting());
  }
  if (is_root_here(root)) {
    node_part_.bcast(buffer, bytes, root_place);
  } else {
    node_part_.allgatherv(slice, buffer, node::Blocks::listed(slices));
  }
}

}  // namespace huddle::internode

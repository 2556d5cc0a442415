// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "select/provision.h"

#include <algorithm>
#include <bit>

namespace huddle::select {
namespace {

// Data that ride behind a flag: a few lines, fetched together with it.
constexpr std::size_t inline_bytes = 4 * node::line_bytes - node::payload_offset;
// A rank that runs ahead looks at the others' counters once in so many calls.
constexpr int slots_in_turn = 16;
// One is filled, one is read, two are on their way between.
constexpr int queue_sets = 4;

constexpr std::size_t smallest_slice = node::line_bytes;

// Degrees beyond these only add readers to a line.
std::vector<node::Shape> shapes_for(const node::Seats& seats) {
  using Kind = node::Shape::Kind;
  std::vector<node::Shape> shapes = {{Kind::flat, 1}};
  if (seats.ranks() <= 2) return shapes;
  shapes.push_back({Kind::chain, 1});
  for (int degree = 2; degree < seats.ranks() - 1; degree *= 2) {
    shapes.push_back({Kind::kary, degree});
  }
  for (int degree = 1; degree < seats.ranks() - 1; degree *= 2) {
    shapes.push_back({Kind::knomial, degree});
  }
  if (!seats.group_of.empty()) shapes.push_back({Kind::levels, 1});
  return shapes;
}

// The memory controller of a node serves about so many copies at full rate (docs/model.md): more
// readers than that at one segment share it.
constexpr int copies_at_full_rate = 4;

}  // namespace

Provision provision(const node::Seats& seats, std::size_t queue_bytes) {
  const auto ranks = static_cast<std::size_t>(seats.ranks());
  // All counts are powers of two, for counters wrap.
  const std::size_t queue = std::bit_floor(std::max(queue_bytes, queue_sets * node::page_bytes));
  Provision provision;
  provision.shapes = shapes_for(seats);
  provision.inline_bcast = {provision.shapes, inline_bytes, slots_in_turn};
  provision.pipelined_bcast = {provision.shapes, node::page_bytes,
                               static_cast<int>(queue / queue_sets / node::page_bytes), queue_sets};
  provision.segmented_bcast = {copies_at_full_rate, queue / 4};
  provision.exchange = {inline_bytes};
  provision.tree_reduce = {queue / slots_in_turn / 4 - node::payload_offset, slots_in_turn};
  provision.sliced_reduce = {std::max(smallest_slice, std::bit_floor(queue / queue_sets / ranks)),
                             queue_sets};
  return provision;
}

}  // namespace huddle::select

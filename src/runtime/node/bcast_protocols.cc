// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/node/bcast_protocols.h"

namespace huddle::node {

InlineBcast::InlineBcast(const Parameters& parameters, const RankLocality& locality, int rank,
                         context::Sequence start)
    : roles_(parameters.shapes, locality, rank),
      done_(layout_),
      done_guard_(done_, start),
      slots_(static_cast<context::Sequence>(parameters.slots)),
      slot_stride_(slot_bytes(parameters.capacity_bytes)),
      slots_offset_(layout_.reserve(slots_ * slot_stride_)),
      call_(start) {}

PipelinedBcast::PipelinedBcast(const Parameters& parameters, const RankLocality& locality, int rank,
                               context::Sequence start)
    : roles_(parameters.shapes, locality, rank),
      cell_bytes_(parameters.cell_bytes),
      set_(static_cast<context::Sequence>(parameters.set_cells)),
      queue_(set_ * static_cast<context::Sequence>(parameters.sets)),
      have_(layout_),
      done_(layout_),
      done_guard_(done_, start),
      queue_offset_(layout_.reserve(queue_ * cell_bytes_, page_bytes)),
      count_(start),
      begin_(start) {}

// Assigns the segments to the NUMA nodes in turn, and within a node to its ranks in turn. There is
// one segment per NUMA node or per group of readers, whichever is more, so that each group begins
// with a segment of its own.
std::vector<SegmentedBcast::Home> SegmentedBcast::deal(const Parameters& parameters,
                                                       const RankLocality& locality) {
  const int memories = 1 + *std::max_element(locality.memory_of.begin(), locality.memory_of.end());
  std::vector<std::vector<int>> ranks_at(static_cast<std::size_t>(memories));
  for (int rank = 0; rank < locality.ranks(); ++rank) {
    ranks_at[static_cast<std::size_t>(locality.memory_of[static_cast<std::size_t>(rank)])]
        .push_back(rank);
  }
  const int readers = locality.ranks() - 1;
  const int k = parameters.readers_at_once;
  const int segments = std::max(memories, (readers + k - 1) / k);
  std::vector<std::size_t> held(static_cast<std::size_t>(locality.ranks()), 0);
  std::vector<Home> homes;
  for (int segment = 0; segment < segments; ++segment) {
    const auto& ranks = ranks_at[static_cast<std::size_t>(segment % memories)];
    const int owner = ranks[static_cast<std::size_t>(segment / memories) % ranks.size()];
    homes.push_back({owner, held[static_cast<std::size_t>(owner)]++});
  }
  return homes;
}

SegmentedBcast::SegmentedBcast(const Parameters& parameters, const RankLocality& locality, int rank,
                               context::Sequence start)
    : homes_(deal(parameters, locality)),
      readers_at_once_(parameters.readers_at_once),
      segment_bytes_(parameters.segment_bytes),
      filled_(layout_),
      done_(layout_),
      done_guard_(done_, start),
      first_(start),
      turn_(start) {
  const auto held = static_cast<std::size_t>(std::count_if(
      homes_.begin(), homes_.end(), [&](const Home& home) { return home.owner == rank; }));
  segments_offset_ = layout_.reserve(2 * held * segment_bytes_, page_bytes);
}

}  // namespace huddle::node

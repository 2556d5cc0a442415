// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the ranks of one node do of a collective over several: by their team, or by messages where
// the node has no memory for what the team would run. Other nodes do not know of that, and would
// wait: the call cannot pass to the MPI any more. Results have the same bits either way.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "runtime/context/hardware/waiting.h"
#include "runtime/internode/node_map.h"
#include "runtime/memory/reduction.h"
#include "runtime/node/blocks.h"
#include "runtime/schedules/wire.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/team/engine.h"
#include "runtime/team/team.h"

namespace huddle::internode {

class NodePart {
 public:
  // All of them outlive it. by_rank: peers are ranks.
  NodePart(team::Team& team, net::Wire& by_rank, const NodeMap& map, int node, int place)
      : team_(team), by_rank_(by_rank), map_(map), node_(node), place_(place) {}

  // As the team has them (team/team.h): roots and blocks by place.
  // The two phases of a barrier, which every rank calls in turn. The node's first rank returns from
  // the first once all ranks of the node have called it; the others return from the second once
  // the first rank has called it. The first time, all ranks wait for each other in the first one.
  void gather_barrier();
  void release_barrier();
  void bcast(void* buffer, std::size_t bytes, int root);
  void reduce(const void* input, void* output, std::size_t count,
              const memory::Reduction& reduction, int root);
  void reduce_scatter(const void* input, void* output, const node::Blocks& blocks,
                      const memory::Reduction& reduction);
  void allgatherv(const void* input, void* output, const node::Blocks& blocks);
  void gather(const void* input, void* output, std::size_t bytes, int root);
  void gatherv(const void* input, std::size_t bytes, void* output, const node::Blocks& blocks,
               int root);
  void scatter(const void* input, void* output, std::size_t bytes, int root);
  void scatterv(const void* input, const node::Blocks& blocks, void* output, std::size_t bytes,
                int root);
  void alltoallv(const void* input, const node::Blocks& outgoing, void* output,
                 const node::Blocks& incoming);
  void scan(const void* input, void* output, std::size_t count, const memory::Reduction& reduction);
  void exscan(const void* input, void* output, std::size_t count,
              const memory::Reduction& reduction);

 private:
  template <typename ByTeam, typename ByMessages>
  void attempt(const ByTeam& by_team, const ByMessages& by_messages);
  template <typename Exchange>
  void finish_all(std::unique_ptr<Exchange> exchange);
  const select::TreeBarrierPlan& barrier_plan();
  void run_barrier_phase(select::BarrierPhase phase);
  int ranks() const { return map_.ranks_on(node_); }
  int rank_at(int place) const { return map_.rank_at(node_, place); }

  void send_to_root(const std::byte* input, std::size_t bytes, std::byte* output,
                    const node::Blocks& blocks, int root);
  void send_from_root(const std::byte* input, const node::Blocks& blocks, std::byte* output,
                      std::size_t bytes, int root);
  void send_to_each(const std::byte* input, const node::Blocks& outgoing, std::byte* output,
                    const node::Blocks& incoming);
  void join_blocks(const std::byte* input, std::byte* output, const node::Blocks& blocks,
                   const memory::Reduction& reduction);
  void join_before(const std::byte* input, std::byte* output, std::size_t count,
                   const memory::Reduction& reduction, bool with_own);

  team::Team& team_;
  net::Wire& by_rank_;
  const NodeMap& map_;
  int node_;
  int place_;
  std::optional<select::TreeBarrierPlan> barrier_plan_;  // the first rank's, once it is known
  std::optional<team::Ready> barrier_;                   // once it is set up
  // Whether the phase that follows runs by the team, as the gather phase did.
  bool is_barrier_by_team_ = false;
};

}  // namespace huddle::internode

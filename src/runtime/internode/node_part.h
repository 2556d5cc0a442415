// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The part of a collective over several nodes that the ranks of one node carry out: by the node's
// team, or by messages if the node lacks memory for the team's protocol. The node cannot fall back
// to the MPI at that point, because the other nodes would wait for it. Both ways give bitwise
// identical results.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/context/waiting.h"
#include "runtime/internode/messages.h"
#include "runtime/internode/node_map.h"
#include "runtime/memory/reduction.h"
#include "runtime/node/blocks.h"
#include "runtime/schedules/wire.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/team/engine.h"
#include "runtime/team/team.h"

namespace huddle::internode {

// Exchange of blocks between pairs of ranks on different nodes. Only the sender and the receiver
// know the size of a block, so no choice depends on a size, and empty blocks are not sent.
class PairwiseExchange {
 public:
  struct Ends {
    schedules::Wire& wire;  // peers are ranks
    const NodeMap& map;
    int rank;
    Traffic* traffic;  // null: messages are not counted
  };
  // The blocks that a rank sends to and receives from each rank. Buffers and lists must outlive the
  // exchange.
  struct Data {
    const std::byte* input = nullptr;
    node::Blocks outgoing;
    std::byte* output = nullptr;
    node::Blocks incoming;
  };

  // Exchanges with all ranks of other nodes. In place, outgoing blocks are copied first.
  PairwiseExchange(const Ends& ends, const Data& data);
  // Sends one block to that rank, or receives one from it.
  static PairwiseExchange to_one(const Ends& ends, int peer, const std::byte* input,
                                 std::size_t bytes);
  static PairwiseExchange from_one(const Ends& ends, int peer, std::byte* output,
                                   std::size_t bytes);

  // Makes progress without blocking. Returns true once all blocks have been sent and received.
  bool advance();
  // Returns whether a received block was larger than its buffer; the excess was lost.
  bool is_truncated() const { return pending_.is_truncated(); }

 private:
  PairwiseExchange(const Ends& ends, const Data& data, int first_distance, int last_distance);
  bool is_on_other_node(int rank) const;
  int at_distance(int distance) const;
  void copy_outgoing();
  // Starts sending to the rank `distance` ranks after this one, and receiving from the rank
  // `distance` before it.
  void start(int distance);

  Ends ends_;
  Data data_;
  std::vector<std::byte> copied_;  // outgoing blocks of an exchange in place
  std::vector<node::Block> copied_at_;
  int next_distance_;
  int last_distance_;
  PendingMessages pending_;
};

class NodePart {
 public:
  // References must outlive this object. Peers of by_rank are ranks.
  NodePart(team::Team& team, schedules::Wire& by_rank, const NodeMap& map, int node, int place)
      : team_(team), by_rank_(by_rank), map_(map), node_(node), place_(place) {}

  // Collectives as in team/team.h, with roots and blocks by place.
  // A barrier consists of two phases that every rank calls in turn. gather_barrier() returns on the
  // node's first rank once all ranks of the node have called it; release_barrier() returns on the
  // other ranks once the first rank has called it. In the first barrier all ranks wait for each
  // other in the gather phase.
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
  void combine_blocks(const std::byte* input, std::byte* output, const node::Blocks& blocks,
                      const memory::Reduction& reduction);
  void combine_before(const std::byte* input, std::byte* output, std::size_t count,
                      const memory::Reduction& reduction, bool with_own);

  team::Team& team_;
  schedules::Wire& by_rank_;
  const NodeMap& map_;
  int node_;
  int place_;
  std::optional<select::TreeBarrierPlan> barrier_plan_;  // chosen by the first rank
  std::optional<team::BoundPlan> barrier_;               // set once its memory is allocated
  // The last gather phase used the team, so the release phase uses it as well.
  bool is_barrier_by_team_ = false;
};

}  // namespace huddle::internode

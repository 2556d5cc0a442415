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

// Blocks that a rank exchanges with ranks of other nodes one by one, where only the two of a pair
// know how large they are: nothing is chosen by a size, and blocks of no bytes are not sent.
class PairwiseExchange {
 public:
  struct Ends {
    schedules::Wire& wire;  // peers are ranks
    const NodeMap& map;
    int rank;
    Traffic* traffic;  // null: nobody wants to know
  };
  // A rank's blocks for the others and from them, by rank. Bytes and lists outlive the exchange.
  struct Data {
    const std::byte* input = nullptr;
    node::Blocks outgoing;
    std::byte* output = nullptr;
    node::Blocks incoming;
  };

  // With all ranks of other nodes. In place, what goes out is copied first.
  PairwiseExchange(const Ends& ends, const Data& data);
  // A block for that rank alone, or from it.
  static PairwiseExchange to_one(const Ends& ends, int peer, const std::byte* input,
                                 std::size_t bytes);
  static PairwiseExchange from_one(const Ends& ends, int peer, std::byte* output,
                                   std::size_t bytes);

  // Goes on as far as it can without waiting. True: all has been sent and received.
  bool advance();
  // Whether more came from a rank than there is room for; the rest of it is lost.
  bool is_truncated() const { return pending_.is_truncated(); }

 private:
  PairwiseExchange(const Ends& ends, const Data& data, int first_distance, int last_distance);
  bool is_on_other_node(int rank) const;
  int at_distance(int distance) const;
  void copy_outgoing();
  // What goes to the rank that is so far behind this one, and comes from the one as far before it.
  void start(int distance);

  Ends ends_;
  Data data_;
  std::vector<std::byte> copied_;  // what goes out, where it must not stay where it was
  std::vector<node::Block> copied_at_;
  int next_distance_;
  int last_distance_;
  PendingMessages pending_;
};

class NodePart {
 public:
  // All of them outlive it. by_rank: peers are ranks.
  NodePart(team::Team& team, schedules::Wire& by_rank, const NodeMap& map, int node, int place)
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
  schedules::Wire& by_rank_;
  const NodeMap& map_;
  int node_;
  int place_;
  std::optional<select::TreeBarrierPlan> barrier_plan_;  // the first rank's, once it is known
  std::optional<team::Ready> barrier_;                   // once it is set up
  // Whether the phase that follows runs by the team, as the gather phase did.
  bool is_barrier_by_team_ = false;
};

}  // namespace huddle::internode

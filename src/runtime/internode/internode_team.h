// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A group of ranks on several nodes and its collectives: a part inside each node by the node's
// team, a schedule between one rank of each node, or several that share the data, and a part inside
// each node again. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/internode/internode_choice.h"
#include "runtime/internode/messages.h"
#include "runtime/internode/node_map.h"
#include "runtime/internode/node_part.h"
#include "runtime/internode/prediction.h"
#include "runtime/memory/reduction.h"
#include "runtime/node/blocks.h"
#include "runtime/schedules/execution.h"
#include "runtime/schedules/schedule.h"
#include "runtime/schedules/wire.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/team.h"

namespace huddle::internode {

// A schedule that is under way between nodes, on a rank that speaks for its own: it goes on by
// advance() and never waits, so that the node can do something else meanwhile.

// Who speaks for each node.
struct Speakers {
  Leaders leaders;
  int leader = 0;      // the one of each node that has this one's slice
  int root_rank = -1;  // stands for its own node instead; -1: none does

  int rank(const NodeMap& map, int node) const {
    const bool is_root = root_rank >= 0 && map.node_of(root_rank) == node;
    return is_root ? root_rank : leaders.rank(node, leader);
  }
};

// Peers of a schedule are nodes, and each is stood for by one rank.
class ByNode : public schedules::Wire {
 public:
  // Keeps references.
  ByNode(schedules::Wire& by_rank, const NodeMap& map, Traffic* traffic, const Speakers& speakers)
      : by_rank_(by_rank), map_(map), traffic_(traffic), speakers_(speakers) {}

  Ticket send(int node, std::span<const std::byte> bytes) override {
    if (traffic_ != nullptr) traffic_->add(bytes.size());
    return by_rank_.send(speakers_.rank(map_, node), bytes);
  }
  Ticket receive(int node, std::span<std::byte> bytes) override {
    return by_rank_.receive(speakers_.rank(map_, node), bytes);
  }
  bool test(Ticket ticket) override { return by_rank_.test(ticket); }

 private:
  schedules::Wire& by_rank_;
  const NodeMap& map_;
  Traffic* traffic_;
  Speakers speakers_;
};

class Crossing {
 public:
  // piece_bytes: of what messages are cut into; 0: they go whole. Keeps references to the schedule
  // and what by_node refers to.
  Crossing(const schedules::Schedule& schedule, int node, const schedules::CallData& data,
           const memory::Reduction& reduction, const ByNode& by_node, std::size_t piece_bytes)
      : by_node_(by_node), execution_(schedule, node, data, reduction, wire(piece_bytes)) {}
  Crossing(const Crossing&) = delete;
  Crossing& operator=(const Crossing&) = delete;

  // True: this rank's part is done.
  bool advance() { return execution_.advance(); }

 private:
  schedules::Wire& wire(std::size_t piece_bytes) {
    if (piece_bytes == 0) return by_node_;
    return in_pieces_.emplace(by_node_, piece_bytes);
  }

  ByNode by_node_;
  std::optional<schedules::InPieces> in_pieces_;
  schedules::Execution execution_;
};

class Team {
 public:
  struct Parts {
    NodeMap map;
    int rank = 0;
    std::unique_ptr<team::Team> node;       // of the ranks of this node, in the order of places
    std::unique_ptr<schedules::Wire> wire;  // peers are ranks
    Network network = {};                   // equal on all ranks
    Traffic* traffic = nullptr;             // is told of what is sent; null: nobody wants to know
    MpiTimes mpi_times = {};                // equal on all ranks
    NodeTimes node_times = {};  // equal on all ranks; where anything is predicted by them
    // As it is to be shared where it can, equal on all ranks; nothing: as is predicted to be best.
    std::optional<Sharing> sharing = {};
    ForcedAlgorithms forced = {};  // the same
  };
  explicit Team(Parts parts);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  const NodeMap& map() const { return parts_.map; }

  // All collective, with equal counts, operators and roots on all ranks. Throw PeerLost where
  // anything goes wrong on this node or on the way to another, and from then on always.
  void barrier();
  // The root's buffer is only read.
  void bcast(void* buffer, std::size_t bytes, int root);
  // pre: can_join(reduction). `input` may be `output`.
  void allreduce(const void* input, void* output, std::size_t count,
                 const memory::Reduction& reduction);
  // The same bits for the root alone, whichever it is; only the root needs an output.
  void reduce(const void* input, void* output, std::size_t count,
              const memory::Reduction& reduction, int root);
  // Each rank has its block of what all contribute; blocks are counted in elements, known to all
  // ranks, and follow each other. pre: can_join(reduction). `input` may be `output`.
  void reduce_scatter(const void* input, void* output, const node::Blocks& blocks,
                      const memory::Reduction& reduction);
  // A block from each rank for all. The input may be this rank's own block of the output.
  void allgather(const void* input, void* output, std::size_t bytes);
  // The same with blocks that all ranks know.
  void allgatherv(const void* input, void* output, const node::Blocks& blocks);
  // A block from each rank for each. The input may be the output.
  void alltoall(const void* input, void* output, std::size_t bytes);
  // A block from each rank for the root, which alone looks at the output. There the input may be
  // its own block of the output.
  void gather(const void* input, void* output, std::size_t bytes, int root);
  // A block from the root for each rank; the root alone looks at the input. There the output may be
  // its own block of the input.
  void scatter(const void* input, void* output, std::size_t bytes, int root);

  // As a node's team has them (team/team.h). Only pairs of ranks know how much they exchange: those
  // on two nodes by a message each. Throw SizesDiffer where more is sent than there is room for.
  void gatherv(const void* input, std::size_t bytes, void* output, const node::Blocks& blocks,
               int root);
  void scatterv(const void* input, const node::Blocks& blocks, void* output, std::size_t bytes,
                int root);
  void alltoallv(const void* input, const node::Blocks& outgoing, void* output,
                 const node::Blocks& incoming);

  // What the ranks up to this one contribute, or those before it: then the first one's output is
  // left alone. pre: takes(Operation::scan). The input may be the output.
  void scan(const void* input, void* output, std::size_t count, const memory::Reduction& reduction);
  void exscan(const void* input, void* output, std::size_t count,
              const memory::Reduction& reduction);

  // Whether these ranks, seated as they are, have anything of it. The same on all ranks.
  bool takes(select::Operation operation) const;

  // Whether contributions come in an order that the operator allows, and elements are no larger
  // than every algorithm takes. The same on all ranks.
  bool can_join(const memory::Reduction& reduction) const;

  // Whether the MPI's own collective is predicted to take less: by what it was measured to take.
  // The same on all ranks. bytes: as a request has them (select/operation.h). Where nobody
  // measured, this is told of an all-to-all alone, whose blocks each rank could send to each by
  // itself: this team sends fewer messages between nodes, for more copies in each.
  bool is_mpi_quicker(select::Operation operation, std::size_t bytes);

  // For a caller that cannot come to the call that the others make: those of its node hear it.
  void give_up(std::string_view why);

  // The algorithm that was to carry that call by force, where it could not; else empty.
  std::string_view latest_unserved() const { return unserved_; }

  // How the last call that moved anything went between nodes: "nodes: doubling". On a rank that had
  // no part in that: "nodes".
  std::string_view latest_algorithm() const { return latest_; }

 private:
  struct Plan;
  // What was predicted of a call, for the next one of the kind.
  struct Verdict {
    select::Operation operation;
    std::size_t bytes;
    bool is_mpi_quicker = false;
    Sharing sharing = {};
  };

  bool is_first() const { return place_ == 0; }
  template <typename Steps>
  void run(const Steps& steps);
  // Between one rank of each node, of which this one is one.
  // own_blocks: where they are of other sizes on other nodes.
  std::unique_ptr<Crossing> start(const Speakers& speakers, const Demand& demand,
                                  const schedules::CallData& data,
                                  const memory::Reduction& reduction,
                                  const schedules::Sizes* own_blocks = nullptr);
  // The same, waited for: between the first ranks, but for that of the root.
  void between(const Demand& demand, const schedules::CallData& data,
               const memory::Reduction& reduction, int root_rank,
               const schedules::Sizes* own_blocks = nullptr);
  const Plan& plan_for(const Demand& demand, int leaders);
  Sharing sharing_of(select::Operation operation, std::size_t bytes);
  // Segment by segment: what the node does before, what a speaker starts (null: this rank has no
  // part in it), what the node does after it. While one is between nodes, the node does its parts
  // of others.
  template <typename Before, typename Start, typename After>
  void in_segments(int segments, const Before& before, const Start& start, const After& after);
  void bcast_shared(std::byte* buffer, std::size_t bytes, int root, const Sharing& sharing);
  void allreduce_shared(const std::byte* input, std::byte* output, std::size_t count,
                        const memory::Reduction& reduction, const Sharing& sharing);
  const Verdict& verdict_on(select::Operation operation, std::size_t bytes);
  Verdict judge(select::Operation operation, std::size_t bytes);
  // The place of the rank that stands for this node where a root stands for its own.
  int speaker_for(int root) const;
  // Messages between pairs of ranks, and what the node's team does meanwhile.
  template <typename NodePart>
  void exchange_beside(PairwiseExchange exchange, const NodePart& node_part);
  PairwiseExchange::Ends ends() { return {*parts_.wire, parts_.map, parts_.rank, parts_.traffic}; }
  // Those of the ranks here, by place.
  std::vector<node::Block> blocks_here(const node::Blocks& blocks) const;
  bool is_root_here(int root) const { return parts_.map.node_of(root) == node_; }
  // What all nodes before this one contribute, on each of its ranks; on the first node nothing.
  MessageBuffer joined_before(const void* input, std::size_t count,
                              const memory::Reduction& reduction);
  // Blocks of all nodes, of which this one's is there.
  void exchange_blocks(std::byte* ordered, const NodeOrder& order);
  void exchange_pairs(const std::byte* outgoing, std::byte* incoming, std::size_t bytes);
  // What the ranks of this node hand in for all ranks, put in order for the nodes it goes to; what
  // has come from the nodes, put in order for the ranks here.
  void sort_by_target(const std::byte* gathered, std::byte* outgoing, std::size_t bytes) const;
  void sort_by_source(const std::byte* incoming, std::byte* for_here, std::size_t bytes) const;
  std::size_t ranks_before(int node) const;

  Parts parts_;
  int node_;
  int place_;
  NodePart node_part_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<Verdict> verdicts_;
  std::string_view latest_;
  std::string_view unserved_;
  team::Trouble lost_;  // why it cannot be used any more
};

}  // namespace huddle::internode

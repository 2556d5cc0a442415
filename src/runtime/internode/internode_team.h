// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Collectives of a group of ranks on several nodes. Each collective consists of a part inside each
// node, which the node's team runs, a schedule between one rank of each node (or several that share
// the data), and another part inside each node. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/internode/call_check.h"
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
#include "runtime/team/team_memory.h"

namespace huddle::internode {

// The ranks that communicate for each node in one schedule.
struct LeaderMap {
  Leaders leaders;
  int leader = 0;      // number of the leader and its slice, equal on all nodes
  int root_rank = -1;  // communicates for its node instead of a leader; -1: none

  int rank(const NodeMap& map, int node) const {
    const bool is_root = root_rank >= 0 && map.node_of(root_rank) == node;
    return is_root ? root_rank : leaders.rank(node, leader);
  }
};

// A wire whose peers are nodes; each is represented by one rank.
class ByNode : public schedules::Wire {
 public:
  // Keeps references.
  ByNode(schedules::Wire& by_rank, const NodeMap& map, Traffic* traffic, const LeaderMap& speakers)
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
  LeaderMap speakers_;
};

// A schedule in progress on a rank that communicates for its node. advance() never blocks, so that
// the node can work meanwhile.
class InterNodeTransfer {
 public:
  // piece_bytes: size of the pieces into which messages are cut; 0: they are not cut. Keeps
  // references to the schedule and to what by_node refers to.
  InterNodeTransfer(const schedules::Schedule& schedule, int node, const schedules::CallData& data,
                    const memory::Reduction& reduction, const ByNode& by_node,
                    std::size_t piece_bytes)
      : by_node_(by_node), execution_(schedule, node, data, reduction, wire(piece_bytes)) {}
  InterNodeTransfer(const InterNodeTransfer&) = delete;
  InterNodeTransfer& operator=(const InterNodeTransfer&) = delete;

  // Makes progress. Returns true once this rank's part is complete.
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
    std::unique_ptr<team::Team> node;  // the team of this node; its ranks are places
    std::unique_ptr<RankWire> wire;
    Network network = {};        // equal on all ranks
    Traffic* traffic = nullptr;  // counts messages; null: they are not counted
    MpiTimes mpi_times = {};     // equal on all ranks
    NodeTimes node_times = {};   // equal on all ranks; required for predictions
    // The sharing to use if possible; nothing: the one that is predicted to be best. Equal on all
    // ranks.
    std::optional<Sharing> sharing = {};
    ForcedAlgorithms forced = {};  // equal on all ranks
  };
  explicit Team(Parts parts);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  const NodeMap& map() const { return parts_.map; }

  // Collectives. All ranks pass equal counts, operators and roots. Throw CallsDiffer if the calls
  // of ranks differ, on every rank that waits for another one or makes later calls. Throw PeerLost
  // if anything else fails on this node or in the communication with another, and in every later
  // call.
  void barrier();
  // Does not write to the root's buffer.
  void bcast(void* buffer, std::size_t bytes, int root);
  // Requires: can_reduce(reduction). `input` may be `output`.
  void allreduce(const void* input, void* output, std::size_t count,
                 const memory::Reduction& reduction);
  // The result is bitwise identical to that of allreduce(), for any root. Only the root needs an
  // output.
  void reduce(const void* input, void* output, std::size_t count,
              const memory::Reduction& reduction, int root);
  // Reduces all inputs, and gives each rank its block of the result. Blocks are contiguous, counted
  // in elements, and equal on all ranks. `input` may be `output`.
  // Requires: can_reduce(reduction).
  void reduce_scatter(const void* input, void* output, const node::Blocks& blocks,
                      const memory::Reduction& reduction);
  // Gathers a block from each rank on all ranks. `input` may be the caller's block of `output`.
  void allgather(const void* input, void* output, std::size_t bytes);
  // The same with blocks of different sizes. `blocks` is equal on all ranks.
  void allgatherv(const void* input, void* output, const node::Blocks& blocks);
  // Sends a block from each rank to each rank. `input` may be `output`.
  void alltoall(const void* input, void* output, std::size_t bytes);
  // Gathers a block from each rank on the root. Only the root uses `output`; its `input` may be its
  // own block of `output`.
  void gather(const void* input, void* output, std::size_t bytes, int root);
  // Sends a block from the root to each rank. Only the root uses `input`; its `output` may be its
  // own block of `input`.
  void scatter(const void* input, void* output, std::size_t bytes, int root);

  // As in a node's team (team/team.h). Only the sender and the receiver know the size of a block. A
  // block between two nodes is sent as one message. Throw SizesDiffer if the size of a block is not
  // the one that its receiver expects; empty blocks are not checked.
  void gatherv(const void* input, std::size_t bytes, void* output, const node::Blocks& blocks,
               int root);
  void scatterv(const void* input, const node::Blocks& blocks, void* output, std::size_t bytes,
                int root);
  void alltoallv(const void* input, const node::Blocks& outgoing, void* output,
                 const node::Blocks& incoming);

  // Inclusive (scan) or exclusive (exscan) prefix reduction in rank order. exscan leaves the first
  // rank's output unchanged. `input` may be `output`.
  // Requires: handles(select::Operation::scan).
  void scan(const void* input, void* output, std::size_t count, const memory::Reduction& reduction);
  void exscan(const void* input, void* output, std::size_t count,
              const memory::Reduction& reduction);

  // Returns whether this team is useful for the operation with this placement of ranks. Equal on
  // all ranks.
  bool handles(select::Operation operation) const;

  // Returns whether the operator is valid for the order in which contributions are combined, and
  // every algorithm supports its elements. Equal on all ranks.
  bool can_reduce(const memory::Reduction& reduction) const;

  // Returns whether the MPI's own collective is faster, according to its measured time. Equal on
  // all ranks. `bytes` is the size of a Request (select/operation.h). Without measurements only an
  // all-to-all can be slower than the MPI: this team sends fewer messages between nodes but copies
  // more within each node than ranks that send to each other directly.
  bool is_mpi_faster(select::Operation operation, std::size_t bytes);
  // Records that a call falls back to the MPI. If a rank of this node makes the call by this team
  // instead, because its size differs, it gets an error instead of waiting.
  void note_fallback(select::Operation operation, std::size_t bytes);

  // Removes this rank from the team, for example after an error. Its peers get an error instead of
  // waiting for it.
  void abandon(std::string_view why);

  // Returns the algorithm that was forced for the last call but could not handle it; otherwise
  // empty.
  std::string_view latest_unserved() const { return unserved_; }

  // Returns how the last call that moved data communicated between nodes, such as "nodes:
  // doubling"; "nodes" on a rank that did not communicate with other nodes.
  std::string_view latest_algorithm() const { return latest_; }

 private:
  // Number of kinds of calls whose plan or verdict is cached. Programs usually repeat a few kinds.
  static constexpr std::size_t most_remembered = 64;
  struct Plan;
  // The result of the predictions for one kind of call, cached for later calls.
  struct Verdict {
    select::Operation operation;
    std::size_t bytes;
    bool is_mpi_faster = false;
    Sharing sharing = {};
  };

  bool is_first() const { return place_ == 0; }
  // Runs the steps of a call, which are none if it moves no data.
  template <typename Steps>
  void run(const team::CallArguments& arguments, const Steps& steps);
  void lose(std::string_view why);
  [[noreturn]] void fail_because_calls_differ(const context::CallsDiffer& error);
  // Starts the schedule on a rank that communicates for its node.
  // `own_blocks`: the sizes of this node's blocks, if they differ between nodes.
  std::unique_ptr<InterNodeTransfer> start(const LeaderMap& speakers, const Demand& demand,
                                           const schedules::CallData& data,
                                           const memory::Reduction& reduction,
                                           const schedules::Sizes* own_blocks = nullptr);
  // Starts a schedule between the first ranks (root_rank replaces the first rank of its node) and
  // waits for it.
  void between(const Demand& demand, const schedules::CallData& data,
               const memory::Reduction& reduction, int root_rank,
               const schedules::Sizes* own_blocks = nullptr);
  const Plan& plan_for(const Demand& demand, int leaders);
  Sharing sharing_of(select::Operation operation, std::size_t bytes);
  // Runs the segments of a call: before(segment) in the node, start(segment) between nodes (null if
  // this rank takes no part), and after(segment) in the node. While one segment is sent between
  // nodes, the node works on others.
  template <typename Before, typename Start, typename After>
  void in_segments(int segments, const Before& before, const Start& start, const After& after);
  void bcast_shared(std::byte* buffer, std::size_t bytes, int root, const Sharing& sharing);
  void allreduce_shared(const std::byte* input, std::byte* output, std::size_t count,
                        const memory::Reduction& reduction, const Sharing& sharing);
  const Verdict& verdict_on(select::Operation operation, std::size_t bytes);
  Verdict judge(select::Operation operation, std::size_t bytes);
  // Returns the place of the rank that communicates for this node: the root, or the first rank.
  int speaker_for(int root) const;
  // Exchanges messages between pairs of ranks and runs node_part() meanwhile.
  template <typename NodePart>
  void exchange_beside(const team::CallArguments& arguments, PairwiseExchange exchange,
                       const NodePart& node_part);
  PairwiseExchange::Ends ends() { return {*parts_.wire, parts_.map, parts_.rank, parts_.traffic}; }
  // Returns the blocks of the ranks of this node, by place.
  std::vector<node::Block> blocks_here(const node::Blocks& blocks) const;
  bool is_root_here(int root) const { return parts_.map.node_of(root) == node_; }
  // Returns the reduced contributions of all nodes before this one on each rank of this node; empty
  // on the first node.
  MessageBuffer joined_before(const void* input, std::size_t count,
                              const memory::Reduction& reduction);
  // Gathers the blocks of all nodes. `ordered` contains this node's block.
  void exchange_blocks(std::byte* ordered, const NodeOrder& order);
  void exchange_pairs(const std::byte* outgoing, std::byte* incoming, std::size_t bytes);
  // sort_by_target() reorders by target node the blocks that the ranks of this node send to all
  // ranks. sort_by_source() reorders by target rank the blocks that arrived from all nodes.
  void sort_by_target(const std::byte* gathered, std::byte* outgoing, std::size_t bytes) const;
  void sort_by_source(const std::byte* incoming, std::byte* for_here, std::size_t bytes) const;
  std::size_t ranks_before(int node) const;

  Parts parts_;
  int node_;
  int place_;
  CallCheck call_check_;
  NodePart node_part_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<Verdict> verdicts_;
  std::string_view latest_;
  std::string_view unserved_;
  team::RankError lost_;  // why the team is unusable
};

}  // namespace huddle::internode

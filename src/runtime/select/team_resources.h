// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The shared memory of a team's protocols, the parameters that follow from it, and forced
// algorithms. Equal on all ranks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/forced_choice.h"
#include "model/machine/cost.h"
#include "runtime/node/bcast_protocols.h"
#include "runtime/node/direct_exchange.h"
#include "runtime/node/direct_reduce.h"
#include "runtime/node/doubling_exchange.h"
#include "runtime/node/locality.h"
#include "runtime/node/pair_exchange.h"
#include "runtime/node/reduce_exchange.h"
#include "runtime/node/reduce_slices.h"
#include "runtime/node/reduce_tree.h"
#include "runtime/node/rooted_exchange.h"
#include "runtime/node/slot_exchange.h"
#include "runtime/select/operation.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::select {

// Algorithms that the user forces to run instead of the cheapest.
class Forcing {
 public:
  Forcing() = default;  // nothing is forced
  // Parses a text such as "bcast:pipelined,allreduce:4K-1M:slices". Throws InputError if the syntax
  // is wrong or an operation is unknown.
  explicit Forcing(std::string_view text);

  // Returns the name of the algorithm that the first matching entry forces for such a request,
  // empty if none matches. The result is valid as long as this object exists.
  std::string_view algorithm_for(const Request& request) const;

  // Returns whether an algorithm is forced for some size of the operation or of its regular form.
  bool concerns(Operation operation) const;

  // Returns a text from which an equal object can be constructed.
  std::string text() const { return text_of(choices_); }

 private:
  std::vector<ForcedChoice> choices_;
};

// Default size of the shared memory that a rank allocates for each large-message algorithm.
inline constexpr std::size_t usual_queue_bytes = std::size_t{1} << 20;

// Size of the shared memory for data of a second instance of some protocols, which runs the calls
// with small data. All pages of an instance are allocated when it is set up, which takes as long as
// hundreds of small calls for usual_queue_bytes: about 1 us per page.
inline constexpr std::size_t small_queue_bytes = 4 * node::page_bytes;

// A path into peers' memory and its state in a team.
struct PathState {
  std::string_view name;
  // Why ranks cannot access each other's memory by this path. Empty if they can, or if it has not
  // been tried.
  std::string refusal = {};

  bool operator==(const PathState&) const = default;
};
std::vector<PathState> untried(const single_copy::PeerPaths& paths);

struct TeamResources {
  std::vector<node::Shape> shapes;  // trees that may pay off in a team of this size
  node::InlineBcast::Parameters inline_bcast;
  node::PipelinedBcast::Parameters pipelined_bcast;
  node::SegmentedBcast::Parameters segmented_bcast;
  node::ExchangeReduce::Parameters exchange;
  node::TreeReduce::Parameters tree_reduce;
  node::SlicedReduce::Parameters sliced_reduce;
  node::SlotExchange::Parameters slot_exchange;
  node::RootedExchange::Parameters rooted_exchange;
  node::DoublingExchange::Parameters doubling_exchange;
  node::PairExchange::Parameters pair_exchange;
  node::DirectExchange::Parameters direct_exchange;
  node::DirectReduce::Parameters direct_reduce;
  // The parameters of the second instances, for small data.
  struct Small {
    node::ExchangeReduce::Parameters exchange;
    node::TreeReduce::Parameters tree_reduce;
    node::SlotExchange::Parameters slot_exchange;
    node::RootedExchange::Parameters rooted_exchange;
    node::DoublingExchange::Parameters doubling_exchange;
    node::PairExchange::Parameters pair_exchange;
  } small;
  // Indexed by path number.
  std::vector<PathState> paths = untried(single_copy::peer_paths());
  // Why ranks cannot map each other's heaps. Empty if they can, or if it has not been tried.
  std::string heap_refusal = "there is no shared heap";
  // The algorithms that run instead of the cheapest.
  Forcing forcing;

  // Sets the size of the queues of all algorithms that use them.
  // Requires: `bytes` is a power of two.
  void set_queue(std::size_t bytes);
  // Records `why` as the reason why ranks cannot use any path.
  void refuse_paths(std::string_view why);
};

// Returns the resources of a team. `queue_bytes` limits the shared memory that a rank allocates for
// each large-message algorithm. Does not predict times: queues get the maximum size.
TeamResources team_resources(const node::RankLocality& locality, std::size_t queue_bytes);
// Returns the queue size, up to most_bytes, at which data pass through the queue at the highest
// rate.
// Requires: at least two ranks.
std::size_t best_queue(const node::RankLocality& locality, const machine::CostModel& model,
                       std::size_t most_bytes);
// The same with the best queue size.
TeamResources team_resources(const node::RankLocality& locality, const machine::CostModel& model,
                             std::size_t queue_bytes);

}  // namespace huddle::select

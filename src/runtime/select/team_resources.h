// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How much shared memory a team's protocols get, and what follows from it. Equal on all ranks.
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
#include "runtime/node/slot_exchange.h"
#include "runtime/select/operation.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::select {

// Algorithms that somebody wants run, whatever is predicted to be the cheapest.
class Forcing {
 public:
  Forcing() = default;  // nothing is forced
  // "bcast:pipelined,allreduce:4K-1M:slices". Throws InputError for what is written otherwise, and
  // for an operation that there is not.
  explicit Forcing(std::string_view text);

  // The name of the algorithm that is to serve such a request, by the first that fits; empty:
  // whichever is the cheapest. It lives as long as this.
  std::string_view algorithm_for(const Request& request) const;

  // What makes it again: equal texts, equal forcing.
  std::string text() const { return text_of(choices_); }

 private:
  std::vector<ForcedChoice> choices_;
};

// What a rank gives to each of the algorithms that move much, where nobody says otherwise.
inline constexpr std::size_t usual_queue_bytes = std::size_t{1} << 20;

// A path into peers' memory, as a team knows it.
struct PathState {
  std::string_view name;
  // Why ranks cannot reach each other's memory by it, once that is known; empty: they can, or
  // nobody has tried.
  std::string refusal = {};

  bool operator==(const PathState&) const = default;
};
std::vector<PathState> untried(const single_copy::PeerPaths& paths);

struct TeamResources {
  std::vector<node::Shape> shapes;  // trees worth a thought in a team of this size
  node::InlineBcast::Parameters inline_bcast;
  node::PipelinedBcast::Parameters pipelined_bcast;
  node::SegmentedBcast::Parameters segmented_bcast;
  node::ExchangeReduce::Parameters exchange;
  node::TreeReduce::Parameters tree_reduce;
  node::SlicedReduce::Parameters sliced_reduce;
  node::SlotExchange::Parameters slot_exchange;
  node::DoublingExchange::Parameters doubling_exchange;
  node::PairExchange::Parameters pair_exchange;
  node::DirectExchange::Parameters direct_exchange;
  node::DirectReduce::Parameters direct_reduce;
  // By number.
  std::vector<PathState> paths = untried(single_copy::peer_paths());
  // Why ranks cannot map each other's heaps, as with paths.
  std::string heap_refusal = "there is no shared heap";
  // What somebody wants run in place of the cheapest.
  Forcing forcing;

  // The queues of what goes through queues. A power of two.
  void set_queue(std::size_t bytes);
  // By no path do ranks reach each other's memory, for that reason.
  void refuse_paths(std::string_view why);
};

// queue_bytes: the most that a rank gives to each of the algorithms that move much. No price is
// asked for that: queues are as large as they may be.
TeamResources team_resources(const node::RankLocality& locality, std::size_t queue_bytes);
// How large a queue is filled and read fastest, up to so many bytes. pre: two ranks or more.
std::size_t best_queue(const node::RankLocality& locality, const machine::CostModel& model,
                       std::size_t most_bytes);
// The same with the best queues.
TeamResources team_resources(const node::RankLocality& locality, const machine::CostModel& model,
                             std::size_t queue_bytes);

}  // namespace huddle::select

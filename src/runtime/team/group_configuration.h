// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The configuration that depends only on the group of processes (as in MPI_Group) and not on the
// communicator: CPU bindings, communication costs, the order of reductions, peers and decisions.
// The ranks determine it collectively when they set up the first team of a group. Later teams of
// the group reuse it and exchange only the locations of their memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/machine/cost.h"
#include "model/machine/machine.h"
#include "runtime/node/locality.h"
#include "runtime/node/reduction_order.h"
#include "runtime/select/choice.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"
#include "runtime/single_copy/peer_memory.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/cpu_binding.h"
#include "runtime/team/peer.h"
#include "runtime/team/placement_check.h"
#include "runtime/team/preparation.h"
#include "runtime/team/team_context.h"
#include "runtime/team/team_memory.h"
#include "runtime/team/tuner.h"

namespace huddle::team {

class SelectionInputs;

// The plans that a team runs for a class of calls. Rank 0 chooses and publishes them. Predicted
// times are floating-point numbers whose last digits may differ between ranks, because of different
// math libraries or builds of huddle; ranks that chose independently could run different algorithms
// and wait for each other forever.
struct Decision {
  RankError rank_error;      // of the rank that publishes this; if set, no other field is valid
  std::uint64_t number = 0;  // unique among the decisions of rank 0
  std::optional<select::Choice<select::Plan>> choice;  // empty if the elements are too large
  Tuner::Expectation expected;                         // from choice->usual
};
static_assert(std::is_trivially_copyable_v<Decision>);
static_assert(sizeof(Decision) <= TeamMemory::most_notice_bytes);

// Chooses plans for the request by this rank's predicted times.
Decision decide(const select::Request& request, const SelectionInputs& selection_inputs);

// Collective. Runs `prepare` on each rank and returns rank 0's decision on all ranks. All ranks
// throw the same FailureError if `prepare` fails on any rank or rank 0 fails to decide, and the
// same UsageError if no algorithm can handle the request.
template <class Prepare>
Decision agreed_decision(TeamMemory& team_memory, const select::Request& request,
                         const SelectionInputs& selection_inputs, Prepare prepare);

// Returns rank 0's decision, given one decision per rank. Throws as agreed_decision() does.
Decision decision_of(std::span<const Decision> by_rank, const select::Request& request);

template <class Prepare>
Decision agreed_decision(TeamMemory& team_memory, const select::Request& request,
                         const SelectionInputs& selection_inputs, Prepare prepare) {
  Decision mine;
  mine.rank_error = RankError::of([&] {
    prepare();
    if (team_memory.rank() == 0) mine = decide(request, selection_inputs);
  });
  return decision_of(team_memory.gather(mine), request);
}

// The class of a call. All calls of a class get the same decision.
struct CallClass {
  select::Operation operation = select::Operation::barrier;
  std::size_t bytes = 0;
  bool root_moved = false;
  auto operator<=>(const CallClass&) const = default;
};
using Decisions = std::map<CallClass, Decision>;

// Decisions of rank 0 that all ranks have received. Thread-safe.
class DecisionBook {
 public:
  // An immutable snapshot; add() makes a new one.
  struct Edition {
    std::shared_ptr<const Decisions> decisions;
    std::uint64_t digest = 0;  // equal if the decisions are equal
  };
  Edition latest() const;
  // Returns a unique number for a decision. Only rank 0's numbers are used.
  std::uint64_t next_number() { return ++numbers_; }
  // Does nothing if memory is exhausted.
  void add(const CallClass& of, const Decision& decision) noexcept;

 private:
  std::atomic<std::uint64_t> numbers_{0};
  mutable std::mutex mutex_;  // guards the members below
  Edition latest_;
};

// A plan that the tuner compares with the chosen one.
struct Alternative {
  select::Plan plan;
  double predicted_ns = 0;  // by rank 0
};
// All alternatives of a class of calls, the most promising first.
using AlternativeList = std::shared_ptr<const std::vector<Alternative>>;

// The lists that rank 0 has made. It takes as long to make one as to run hundreds of small calls,
// so the teams of a group share them. Thread-safe.
class AlternativeBook {
 public:
  // Returns null if there is no list yet.
  AlternativeList find(const CallClass& of) const;
  // Does nothing if memory is exhausted.
  void add(const CallClass& of, const AlternativeList& list) noexcept;

 private:
  mutable std::mutex mutex_;
  std::map<CallClass, AlternativeList> lists_;  // guarded by mutex_
};

// Returns the alternatives to `usual`, or null if memory is exhausted.
AlternativeList list_alternatives(const select::Plan& usual, const select::Request& request,
                                  const SelectionInputs& selection_inputs);

using Alternatives = std::array<std::optional<Alternative>, alternatives_at_once>;
// Returns the alternatives with these numbers in the list, which begins anew after its end. One
// that is in the result already does not appear again. A number from first_recalled_number on
// denotes the plan that is most similar to the one with that index in `recalled`; there is none if
// that is `usual`. `listed` may be null.
Alternatives alternatives_of(const AlternativeNumbers& numbers, const AlternativeList& listed,
                             std::span<const select::PlanFeatures> recalled,
                             const select::Plan& usual);
// Returns the place of the listed alternative with the algorithm, if any, and copy method of
// `wanted` whose pieces have the most similar size, or nothing if none is more similar than
// `usual`.
std::optional<std::size_t> most_similar(std::span<const Alternative> listed,
                                        const select::PlanFeatures& wanted,
                                        const select::Plan& usual);

class GroupConfiguration {
 public:
  // Keeps a reference to the context.
  GroupConfiguration(const AgreedConfiguration& agreed, const Context& context);
  GroupConfiguration(const GroupConfiguration&) = delete;
  GroupConfiguration& operator=(const GroupConfiguration&) = delete;

  const std::vector<CpuBinding>& cpu_bindings() const { return cpu_bindings_; }
  // Returns by rank where the data of the ranks were during set-up.
  const std::vector<MemoryNodes>& memory_nodes() const { return memory_nodes_; }
  const machine::CostModel& model() const { return model_; }
  const node::RankLocality& locality() const { return locality_; }
  const select::TeamResources& resources() const { return resources_; }
  const node::ReductionOrder& reduction_order() const { return reduction_order_; }
  bool has_one_sided_fence() const { return has_one_sided_fence_; }
  // Returns whether the ranks' settings force different algorithms; resources() contains the
  // setting in effect.
  bool ranks_force_different_algorithms() const { return is_forcing_unlike_; }

  // Returns a digest of all inputs from which protocols are constructed, apart from the chosen
  // plan: ranks with equal digests construct equal protocols for the same plan.
  std::uint64_t digest() const;
  // Returns the best queue size by this rank's predicted times. All ranks use rank 0's result.
  std::size_t best_queue() const;
  void set_queue(std::size_t bytes) { resources_.set_queue(bytes); }

  // Returns the peers by rank; empty until the first team is set up.
  const std::vector<std::shared_ptr<Peer>>& peers() const { return peers_; }
  void set_peers(std::vector<std::shared_ptr<Peer>> peers) { peers_ = std::move(peers); }

  DecisionBook& decisions() { return decisions_; }
  const DecisionBook& decisions() const { return decisions_; }
  AlternativeBook& alternatives() { return alternatives_; }

 private:
  const machine::Machine& machine(const Context& context) const {
    return other_machine_ ? *other_machine_ : context.machine();
  }

  std::size_t queue_bytes_;
  std::optional<machine::Machine> other_machine_;  // rank 0's, if the ranks' differ
  std::vector<CpuBinding> cpu_bindings_;           // by rank
  std::vector<MemoryNodes> memory_nodes_;          // by rank
  machine::CostModel model_;
  node::RankLocality locality_;
  select::TeamResources resources_;
  node::ReductionOrder reduction_order_;
  bool has_one_sided_fence_;
  bool is_forcing_unlike_;
  std::vector<std::shared_ptr<Peer>> peers_;
  DecisionBook decisions_;
  AlternativeBook alternatives_;
};

// Collective. Determines the configuration of the group that consists of the bootstrap's ranks.
// Either all ranks throw the same FailureError or none does.
std::shared_ptr<GroupConfiguration> agreed_group_configuration(const Context& context,
                                                               const Bootstrap& bootstrap,
                                                               AgreementBuffers& room);

// The inputs of a team's algorithm selection: where its ranks run and which paths between them do
// not work. Values that every rank computes are integers, and the ranks verify that these are
// equal; only the rank that chooses uses predicted times.
class SelectionInputs {
 public:
  // Requires: all ranks have agreed on the group's queue size.
  explicit SelectionInputs(std::shared_ptr<GroupConfiguration> group)
      : group_(std::move(group)), resources_(group_->resources()) {}
  SelectionInputs(const SelectionInputs&) = delete;
  SelectionInputs& operator=(const SelectionInputs&) = delete;

  const std::shared_ptr<GroupConfiguration>& group() const { return group_; }
  const std::vector<CpuBinding>& cpu_bindings() const { return group_->cpu_bindings(); }
  const machine::CostModel& model() const { return group_->model(); }
  const node::RankLocality& locality() const { return group_->locality(); }
  const node::ReductionOrder& reduction_order() const { return group_->reduction_order(); }
  bool has_one_sided_fence() const { return group_->has_one_sided_fence(); }
  const select::TeamResources& resources() const { return resources_; }

  // Excludes algorithms that use this path to peers' memory from later selections. Explanations
  // report `why`, or a shorter text if memory is exhausted.
  void refuse_path(single_copy::PathNumber path, std::string_view why) noexcept;
  // The same for algorithms that map the peers' heaps.
  void refuse_heap(std::string_view why) noexcept;

 private:
  std::shared_ptr<GroupConfiguration> group_;
  select::TeamResources resources_;
};

}  // namespace huddle::team

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What depends on the group of processes alone, as MPI_Group means it, and not on the communicator:
// how they are bound, what the machine's prices are between them, in which order reductions join,
// how a member's memory is reached, and what was decided on. The first team of a group finds it out
// and agrees on it; those that follow share it, and say to each other only where their memory is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/machine/cost.h"
#include "model/machine/machine.h"
#include "runtime/node/locality.h"
#include "runtime/node/reduction_order.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"
#include "runtime/single_copy/peer_memory.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/cpu_binding.h"
#include "runtime/team/peer.h"
#include "runtime/team/preparation.h"
#include "runtime/team/team_context.h"
#include "runtime/team/team_memory.h"

namespace huddle::team {

// What a team is to run for a class of calls. The lowest rank chooses and shows it to the others:
// prices are floating point numbers, and those of two ranks may differ in the last place, by their
// libraries of mathematics or by how their huddle was built; ranks that chose by them, each for
// itself, could wait in different algorithms for each other.
class SelectionInputs;

struct Decision {
  Trouble trouble;  // of the rank that shows it; if there is any, nothing of the rest holds
  std::uint64_t number = 0;  // no two of the lowest rank's are alike
  bool is_possible = false;  // false: elements are larger than any slot
  // Whether it is worth asking if all have mapped what the others hand in.
  bool asks = false;
  select::Plan usual;
  select::Plan where_mapped;  // where it asks
};
static_assert(std::is_trivially_copyable_v<Decision>);
static_assert(sizeof(Decision) <= TeamMemory::most_notice_bytes);

// By this rank's prices.
Decision decide(const select::Request& request, const SelectionInputs& selection_inputs);

// Collective. The lowest rank's decision, for all, once all have prepared; where one of them fails
// at that, or the lowest at deciding, all throw the same FailureError. All throw the same
// UsageError where there is nothing to decide between.
template <class Prepare>
Decision agreed_decision(TeamMemory& team_memory, const select::Request& request,
                         const SelectionInputs& selection_inputs, Prepare prepare);

// The lowest rank's, of everybody's. Throws as above.
Decision decision_of(std::span<const Decision> by_rank, const select::Request& request);

template <class Prepare>
Decision agreed_decision(TeamMemory& team_memory, const select::Request& request,
                         const SelectionInputs& selection_inputs, Prepare prepare) {
  Decision mine;
  mine.trouble = Trouble::of([&] {
    prepare();
    if (team_memory.rank() == 0) mine = decide(request, selection_inputs);
  });
  return decision_of(team_memory.gather(mine), request);
}

// Of which class a call is, where that tells what to run.
struct CallClass {
  select::Operation operation = select::Operation::barrier;
  std::size_t bytes = 0;
  bool root_moved = false;
  auto operator<=>(const CallClass&) const = default;
};
using Decisions = std::map<CallClass, Decision>;

// Decisions that all members know, each from its lowest rank. For several threads.
class DecisionBook {
 public:
  // They stay as they are: what is added later is in another copy.
  struct Edition {
    std::shared_ptr<const Decisions> decisions;
    std::uint64_t digest = 0;  // equal where the decisions are
  };
  Edition latest() const;
  // For the lowest rank's decisions: no two are alike.
  std::uint64_t next_number() { return ++numbers_; }
  // Where there is no memory for it, it is not in the book.
  void add(const CallClass& of, const Decision& decision) noexcept;

 private:
  std::atomic<std::uint64_t> numbers_{0};
  mutable std::mutex mutex_;  // guards what follows
  Edition latest_;
};

class GroupConfiguration {
 public:
  // Keeps a reference to the context.
  GroupConfiguration(const AgreedConfiguration& agreed, const Context& context);
  GroupConfiguration(const GroupConfiguration&) = delete;
  GroupConfiguration& operator=(const GroupConfiguration&) = delete;

  const std::vector<CpuBinding>& cpu_bindings() const { return cpu_bindings_; }
  const machine::CostModel& model() const { return model_; }
  const node::RankLocality& locality() const { return locality_; }
  const select::TeamResources& resources() const { return resources_; }
  const node::ReductionOrder& association() const { return association_; }
  bool has_one_sided_fence() const { return has_one_sided_fence_; }
  // Whether ranks were told to force different things; what holds is the resources's.
  bool is_forcing_unlike() const { return is_forcing_unlike_; }

  // Of all that a rank reckons with whatever is chosen: equal numbers, equal protocols.
  std::uint64_t digest() const;
  // By this rank's prices, for all to take.
  std::size_t best_queue() const;
  void set_queue(std::size_t bytes) { resources_.set_queue(bytes); }

  // By rank, once the first team is made.
  const std::vector<std::shared_ptr<Peer>>& peers() const { return peers_; }
  void set_peers(std::vector<std::shared_ptr<Peer>> peers) { peers_ = std::move(peers); }

  DecisionBook& decisions() { return decisions_; }
  const DecisionBook& decisions() const { return decisions_; }

 private:
  const machine::Machine& machine(const Context& context) const {
    return other_machine_ ? *other_machine_ : context.machine();
  }

  std::size_t queue_bytes_;
  std::optional<machine::Machine> other_machine_;  // where it is not the context's
  std::vector<CpuBinding> cpu_bindings_;           // by rank
  machine::CostModel model_;
  node::RankLocality locality_;
  select::TeamResources resources_;
  node::ReductionOrder association_;
  bool has_one_sided_fence_;
  bool is_forcing_unlike_;
  std::vector<std::shared_ptr<Peer>> peers_;
  DecisionBook decisions_;
};

// Collective. All ranks throw the same FailureError, or none does.
std::shared_ptr<GroupConfiguration> agreed_group_configuration(const Context& context,
                                                               const Bootstrap& bootstrap,
                                                               AgreementBuffers& room);

// What the choices of a team follow from: where its members run, and what was found not to work
// between them. What more than one rank reckons with is reckoned in whole numbers, and shown to be
// the same on all of them; prices are for the rank that chooses.
class SelectionInputs {
 public:
  // pre: the group's queues are those that all ranks have agreed on.
  explicit SelectionInputs(std::shared_ptr<GroupConfiguration> group)
      : group_(std::move(group)), resources_(group_->resources()) {}
  SelectionInputs(const SelectionInputs&) = delete;
  SelectionInputs& operator=(const SelectionInputs&) = delete;

  const std::shared_ptr<GroupConfiguration>& group() const { return group_; }
  const std::vector<CpuBinding>& cpu_bindings() const { return group_->cpu_bindings(); }
  const machine::CostModel& model() const { return group_->model(); }
  const node::RankLocality& locality() const { return group_->locality(); }
  const node::ReductionOrder& association() const { return group_->association(); }
  bool has_one_sided_fence() const { return group_->has_one_sided_fence(); }
  const select::TeamResources& resources() const { return resources_; }

  // From now on no choice follows from the ranks' reading each other's memory by that path, for
  // that reason; the words may be fewer where there is no memory for them.
  void refuse_path(single_copy::PathNumber path, std::string_view why) noexcept;
  // The same of their mapping each other's heaps.
  void refuse_heap(std::string_view why) noexcept;

 private:
  std::shared_ptr<GroupConfiguration> group_;
  select::TeamResources resources_;
};

}  // namespace huddle::team

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
#include <vector>

#include "model/machine/cost.h"
#include "model/machine/machine.h"
#include "runtime/node/locality.h"
#include "runtime/node/reduction_order.h"
#include "runtime/select/team_resources.h"
#include "runtime/team/agreed_configuration.h"
#include "runtime/team/context.h"
#include "runtime/team/cpu_binding.h"
#include "runtime/team/decision.h"
#include "runtime/team/peer.h"

namespace huddle::team {

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

}  // namespace huddle::team

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the choices of a team follow from: the machine, who sits where, how much memory algorithms
// get, in which order a reduction joins. What more than one rank reckons with is reckoned in whole
// numbers, and shown to be the same on all of them; prices are for the rank that chooses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "machine/cost.h"
#include "machine/machine.h"
#include "node/association.h"
#include "node/seats.h"
#include "select/provision.h"
#include "team/context.h"
#include "team/seating.h"
#include "team/settlement.h"

namespace huddle::team {

class Outlook {
 public:
  // Keeps a reference to the context.
  Outlook(const Settlement& settlement, const Context& context);
  Outlook(const Outlook&) = delete;
  Outlook& operator=(const Outlook&) = delete;

  const std::vector<Whereabouts>& whereabouts() const { return whereabouts_; }
  const machine::CostModel& model() const { return model_; }
  const node::Seats& seats() const { return seats_; }
  const select::Provision& provision() const { return provision_; }
  const node::Association& association() const { return association_; }
  bool has_one_sided_fence() const { return has_one_sided_fence_; }

  // Of all that a rank reckons with whatever is chosen: equal numbers, equal protocols.
  std::uint64_t digest() const;
  // By this rank's prices, for all to take.
  std::size_t best_queue() const;
  void set_queue(std::size_t bytes) { provision_.set_queue(bytes); }

  // From now on no choice follows from the ranks' reading each other's memory, for that reason; the
  // words may be fewer where there is no memory for them.
  void refuse_direct(std::string_view why) noexcept;
  // The same of their mapping each other's heaps.
  void refuse_heap(std::string_view why) noexcept;

 private:
  const machine::Machine& machine(const Context& context) const {
    return other_machine_ ? *other_machine_ : context.machine();
  }

  std::size_t queue_bytes_;
  std::optional<machine::Machine> other_machine_;  // where it is not the context's
  std::vector<Whereabouts> whereabouts_;           // by rank
  machine::CostModel model_;
  node::Seats seats_;
  select::Provision provision_;
  node::Association association_;
  bool has_one_sided_fence_;
};

}  // namespace huddle::team

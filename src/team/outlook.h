// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the choices of a team follow from, the same on all ranks: the machine, who sits where, how
// much memory algorithms get, in which order a reduction joins.
#pragma once

#include <optional>
#include <string>
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

  // From now on no choice follows from the ranks' reading each other's memory, for that reason.
  void refuse_direct(const std::string& why) { provision_.direct_refusal = why; }
  // The same of their mapping each other's heaps.
  void refuse_heap(const std::string& why) { provision_.heap_refusal = why; }

 private:
  const machine::Machine& machine(const Context& context) const {
    return other_machine_ ? *other_machine_ : context.machine();
  }

  std::optional<machine::Machine> other_machine_;  // where it is not the context's
  std::vector<Whereabouts> whereabouts_;           // by rank
  machine::CostModel model_;
  node::Seats seats_;
  select::Provision provision_;
  node::Association association_;
};

}  // namespace huddle::team

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle's own collectives as implementations, with the team's choice or with a given plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/cost.h"
#include "runtime/memory/reduction.h"
#include "runtime/node/locality.h"
#include "runtime/select/candidate.h"
#include "runtime/select/costs.h"
#include "runtime/select/operation.h"
#include "runtime/select/team_resources.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/rank_processes.h"
#include "tools/bench/harness/harness.h"

namespace huddle::bench {

// Starts two sibling processes and returns whether they may read each other's memory.
bool ranks_may_read();

// The candidates and costs from which a team of these ranks would choose, without creating a team.
struct Forecast {
  // `may_read`: whether the ranks may read each other's memory.
  Forecast(const machine::Machine& machine, const Binding& binding, bool may_read);
  // Calls ranks_may_read(), so it has to run on the machine that will run the ranks.
  Forecast(const machine::Machine& machine, const Binding& binding);
  Forecast(machine::Machine&& machine, const Binding& binding) = delete;  // the model refers to it
  Forecast(const Forecast&) = delete;
  Forecast& operator=(const Forecast&) = delete;

  std::vector<select::Candidate> candidates(const select::Request& request) const;
  // Returns the cheapest candidate of each algorithm, in the order of algorithms.
  std::vector<select::Candidate> best_of_each(const select::Request& request) const;
  double cheapest_ns(const select::Request& request) const;
  node::Tree tree(const node::Shape& shape) const { return node::tree(shape, locality, 0); }
  bool has_levels() const { return !locality.group_of.empty(); }

  machine::CostModel model;
  node::RankLocality locality;
  select::TeamResources resources;
  select::Costs costs;
};

// The plan that a team has to use. If it is empty, the team chooses.
using PlanOrChoice = std::optional<select::Plan>;

// Returns the algorithm and the parameters that the team chooses, in words.
std::string chosen(const RankContext& here, const select::Request& request);

// Adapts a team's barrier to BarrierImplementation.
class TeamBarrier {
 public:
  explicit TeamBarrier(PlanOrChoice plan = std::nullopt) : plan_(plan) {}
  void build(const RankContext& here) {
    if (plan_ && here.ranks > 1) bound_ = here.team->ready_by(*plan_);
  }
  void pass(const RankContext& here) {
    static constexpr select::Call call;
    if (bound_) {
      here.team->run_by(*bound_, call);
    } else {
      here.team->barrier();
    }
  }
  std::string how(const RankContext& here) const;

 private:
  PlanOrChoice plan_;
  std::optional<team::BoundPlan> bound_;
};

// Broadcasts 8 bytes from each rank in turn. The root increments the value that it received last,
// so it cannot begin before the previous broadcast has arrived. With two ranks, neither runs ahead,
// so the time per call is the time until the last rank returns.
class RotatingBcast final : public Implementation {
 public:
  void run(const RankContext& here, int calls) override;
  bool is_right(const RankContext& here) override;
  std::string how(const RankContext& here) override;

 private:
  std::uint64_t value_ = 0;
  std::uint64_t calls_ = 0;
};

// The calls of a stretch. Each has its own buffers; the roots rotate.
struct Calls {
  select::Operation operation = select::Operation::bcast;
  std::size_t bytes = 0;  // as in CallData
  int in_a_stretch = 1;

  // Returns the required size of the comparison's buffers.
  std::size_t buffer_bytes(int ranks) const;
  // Returns the distance between the buffers of consecutive calls.
  std::size_t stride(int ranks) const;
};

// Any of huddle's collectives that moves data, as an implementation.
// Requires: the operation is neither a barrier nor one with blocks of different sizes; stretches
// have calls.in_a_stretch calls and buffers have calls.buffer_bytes() bytes.
class TeamOperation final : public Implementation {
 public:
  explicit TeamOperation(const Calls& calls, PlanOrChoice plan = std::nullopt);
  void set_up(const RankContext& here) override;
  void prepare(const RankContext& here) override;
  void run(const RankContext& here, int calls) override;
  bool is_right(const RankContext& here) override;
  std::string how(const RankContext& here) override;

 private:
  CallData call_data(const RankContext& here, int call) const;
  void run_chosen(team::Team& team, const CallData& at) const;
  select::Call call(const CallData& at) const;

  Calls calls_;
  TestData test_data_;
  PlanOrChoice plan_;
  std::optional<team::BoundPlan> bound_;  // only if there is a plan
  memory::Reduction sum_;                 // of doubles
  std::size_t stride_ = 0;
};

// Returns the request by which a team chooses the algorithm for these calls.
select::Request request_of(const Calls& calls, int ranks);

}  // namespace huddle::bench

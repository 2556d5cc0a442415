// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle's own collectives as implementations: by the plan that a team chooses, or by a given one.
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

// Whether ranks, which are processes that another one starts, may read each other's memory here.
// Starts two to see.
bool ranks_may_read();

// What a team would choose from, before it is made.
struct Forecast {
  // may_read: whether ranks may read each other's memory there.
  Forecast(const machine::Machine& machine, const Binding& binding, bool may_read);
  // The same where the ranks are to run: they try whether they may.
  Forecast(const machine::Machine& machine, const Binding& binding);
  Forecast(machine::Machine&& machine, const Binding& binding) = delete;  // the model refers to it
  Forecast(const Forecast&) = delete;
  Forecast& operator=(const Forecast&) = delete;

  std::vector<select::Candidate> candidates(const select::Request& request) const;
  // The cheapest candidate of each algorithm, in the order of algorithms.
  std::vector<select::Candidate> best_of_each(const select::Request& request) const;
  double cheapest_ns(const select::Request& request) const;
  node::Tree tree(const node::Shape& shape) const { return node::tree(shape, locality, 0); }
  bool has_levels() const { return !locality.group_of.empty(); }

  machine::CostModel model;
  node::RankLocality locality;
  select::TeamResources resources;
  select::Prices prices;
};

// No plan: whatever the team chooses.
using PlanOrChoice = std::optional<select::Plan>;

// What the team would choose, in words.
std::string chosen(const RankContext& here, const select::Request& request);

// For BarrierImplementation.
class TeamBarrier {
 public:
  explicit TeamBarrier(PlanOrChoice plan = std::nullopt) : plan_(plan) {}
  void build(const RankContext& here) {
    if (plan_ && here.ranks > 1) ready_ = here.team->ready_by(*plan_);
  }
  void pass(const RankContext& here) {
    static constexpr select::Call call;
    if (ready_) {
      here.team->run_by(*ready_, call);
    } else {
      here.team->barrier();
    }
  }
  std::string how(const RankContext& here) const;

 private:
  PlanOrChoice plan_;
  std::optional<team::Ready> ready_;
};

// 8 bytes from each rank in turn, and the root adds to what it was sent last: it cannot begin
// before that has arrived. With two ranks nobody is ahead of anybody, so that a call's share of the
// series is the time until its last rank returns.
class RotatingBcast final : public Implementation {
 public:
  void run(const RankContext& here, int calls) override;
  bool is_right(const RankContext& here) override;
  std::string how(const RankContext& here) override;

 private:
  std::uint64_t value_ = 0;
  std::uint64_t calls_ = 0;
};

// Any of huddle's collectives that moves something as an implementation. Each call of a stretch has
// buffers of its own, and another root.
struct Calls {
  select::Operation operation = select::Operation::bcast;
  std::size_t bytes = 0;  // as a CallData has them
  int in_a_stretch = 1;

  // What the buffers of a comparison have to hold.
  std::size_t buffer_bytes(int ranks) const;
  // From one call's buffers to the next one's.
  std::size_t stride(int ranks) const;
};

// pre: neither a barrier nor one of the operations whose blocks may differ; as many calls in a
// stretch, and buffers of so many bytes, as these calls want.
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
  std::optional<team::Ready> ready_;  // by the plan
  memory::Reduction sum_;             // of doubles
  std::size_t stride_ = 0;
};

// As a team is asked for it.
select::Request request_of(const Calls& calls, int ranks);

}  // namespace huddle::bench

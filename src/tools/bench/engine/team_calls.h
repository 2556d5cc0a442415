// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle's own collectives as implementations: by the plan that a team chooses, or by a given one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "tools/bench/engine/implementation.h"

namespace huddle::bench {

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

}  // namespace huddle::bench

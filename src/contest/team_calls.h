// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle's own collectives as contenders: by the plan that a team chooses, or by a given one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "contest/contender.h"
#include "memory/reduction.h"
#include "select/candidate.h"

namespace huddle::contest {

// No plan: whatever the team chooses.
using PlanOrChoice = std::optional<select::Plan>;

// For BarrierContender.
class TeamBarrier {
 public:
  explicit TeamBarrier(PlanOrChoice plan = std::nullopt) : plan_(std::move(plan)) {}
  void build(const Here&) {}
  void pass(const Here& here) {
    if (plan_) {
      here.team->run_by(*plan_, {});
    } else {
      here.team->barrier();
    }
  }
  std::string how(const Here& here) const;

 private:
  PlanOrChoice plan_;
};

// 8 bytes from each rank in turn, and the root adds to what it was sent last: it cannot begin
// before that has arrived. With two ranks nobody is ahead of anybody, so that a call's share of the
// series is the time until its last rank returns.
class RotatingBcast final : public Contender {
 public:
  void run(const Here& here, int calls) override;
  bool is_right(const Here& here) override;
  std::string how(const Here& here) override;

 private:
  std::uint64_t value_ = 0;
  std::uint64_t calls_ = 0;
};

// All of the buffer, from the first rank to all.
class TeamBcast final : public Contender {
 public:
  explicit TeamBcast(PlanOrChoice plan = std::nullopt) : plan_(std::move(plan)) {}
  void prepare(const Here& here) override;
  void run(const Here& here, int calls) override;
  bool is_right(const Here& here) override;
  std::string how(const Here& here) override;

 private:
  PlanOrChoice plan_;
};

// Sums of doubles.
class TeamAllreduce final : public Contender {
 public:
  explicit TeamAllreduce(PlanOrChoice plan = std::nullopt);
  void prepare(const Here& here) override;
  void run(const Here& here, int calls) override;
  bool is_right(const Here& here) override;
  std::string how(const Here& here) override;

 private:
  PlanOrChoice plan_;
  memory::Reduction sum_;
};

}  // namespace huddle::contest

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Any of huddle's collectives that moves something as a contender. Each call of a stretch has
// buffers of its own, and another root.
#pragma once

#include <cstddef>

#include "contest/contender.h"
#include "contest/task.h"
#include "contest/team_calls.h"
#include "memory/reduction.h"
#include "select/operation.h"

namespace huddle::contest {

struct Calls {
  select::Operation operation = select::Operation::bcast;
  std::size_t bytes = 0;  // as an Occasion has them
  int in_a_stretch = 1;

  // What the buffers of a contest have to hold.
  std::size_t buffer_bytes(int ranks) const;
  // From one call's buffers to the next one's.
  std::size_t stride(int ranks) const;
};

// pre: neither a barrier nor one of the operations whose blocks may differ; as many calls in a
// stretch, and buffers of so many bytes, as these calls want.
class TeamOperation final : public Contender {
 public:
  explicit TeamOperation(const Calls& calls, PlanOrChoice plan = std::nullopt);
  void set_up(const Here& here) override;
  void prepare(const Here& here) override;
  void run(const Here& here, int calls) override;
  bool is_right(const Here& here) override;
  std::string how(const Here& here) override;

 private:
  Occasion occasion(const Here& here, int call) const;
  void run_chosen(team::Team& team, const Occasion& at) const;
  select::Call call(const Occasion& at) const;

  Calls calls_;
  Task task_;
  PlanOrChoice plan_;
  std::optional<team::Ready> ready_;  // by the plan
  memory::Reduction sum_;             // of doubles
  std::size_t stride_ = 0;
};

// As a team is asked for it.
select::Request request_of(const Calls& calls, int ranks);

}  // namespace huddle::contest

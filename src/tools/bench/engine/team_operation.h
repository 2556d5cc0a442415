// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Any of huddle's collectives that moves something as an implementation. Each call of a stretch has
// buffers of its own, and another root.
#pragma once

#include <cstddef>

#include "runtime/memory/reduction.h"
#include "runtime/select/operation.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/team_calls.h"
#include "tools/bench/harness/test_data.h"

namespace huddle::bench {

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

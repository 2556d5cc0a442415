// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Decisions that the teams of a group share while other threads of a process add to them.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "model/machine/locate.h"
#include "ranks.h"
#include "runtime/select/operation.h"
#include "runtime/team/group_configuration.h"
#include "runtime/team/team.h"
#include "scarce_memory.h"
#include "setup.h"

namespace huddle::team {
namespace {

using How = RankEnd::How;

// More than the number of allocations of a team set-up.
constexpr int most_allocations = 40;

// A thread of rank 0 adds a decision while another thread sets up a team of the same group, at each
// possible point. The ranks of the new team must not use a decision that only rank 0 had then.
TEST(Decisions, OneSnapshotIsUsedIfAThreadAddsToThemDuringSetUp) {
  const auto ends = run_ranks(2, [](const Bootstrap& bootstrap) {
    constexpr std::size_t bytes = 4096;
    std::vector<std::byte> buffer(bytes);
    for (int allocation = 0; allocation < most_allocations; ++allocation) {
      Context context(two_core_options());
      Team first(context, bootstrap);
      first.bcast(buffer.data(), 8, 0);
      const auto group = first.group();
      const auto add = [&] {
        const CallClass added{select::Operation::bcast,
                              select::largest_in(select::size_class_of(bytes)), false};
        group->decisions().add(added, group->decisions().latest().decisions->begin()->second);
      };
      const bool adds_during_set_up = bootstrap.rank == 0;
      if (adds_during_set_up) before_allocation(allocation, add);
      Team second(context, bootstrap, group);
      if (!adds_during_set_up || cancel_action()) add();
      buffer.assign(bytes, static_cast<std::byte>(bootstrap.rank));
      second.bcast(buffer.data(), bytes, 0);
      EXPECT_EQ(buffer.back(), std::byte{0}) << "added before allocation " << allocation;
    }
  });
  for (const RankEnd& end : ends) EXPECT_EQ(end.how, How::fine) << end;
}

}  // namespace
}  // namespace huddle::team

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A repeated call allocates no memory, neither in its algorithm nor for the choice, because no cost
// curve or candidate is evaluated again.
#include <gtest/gtest.h>

#include "exercise.h"
#include "model/machine/locate.h"
#include "ranks.h"
#include "runtime/team/team.h"
#include "sanitizer.h"
#include "scarce_memory.h"
#include "setup.h"

namespace huddle::team {
namespace {

using How = RankEnd::How;

// Makes the same call three times; all allocations fail during the third.
void call_without_memory(Team& team, select::Operation operation, std::size_t bytes) {
  constexpr std::uint32_t seed = 7;
  for (int before = 0; before < 2; ++before) OwnCall(team, operation, bytes, seed).run();
  OwnCall call(team, operation, bytes, seed);
  allow({.number = 0});
  call.run();
  const bool asked_for_none = !allow({}).is_any();  // the failure has not occurred yet
  EXPECT_TRUE(asked_for_none) << name(operation) << " of " << bytes;
  EXPECT_TRUE(call.is_right()) << name(operation) << " of " << bytes;
}

void call_all_without_memory(const Bootstrap& place) {
  Context context(two_core_options());
  Team team(context, place);
  for (const select::Operation operation : select::operations) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{1} << 18}) {
      call_without_memory(team, operation, bytes);
    }
  }
}

TEST(WarmCall, AllocatesNothing) {
  if (sanitizer_owns_new) GTEST_SKIP() << why_memory_is_never_scarce;
  for (const RankEnd& end : run_ranks(3, call_all_without_memory)) {
    EXPECT_EQ(end.how, How::fine) << end;
  }
}

}  // namespace
}  // namespace huddle::team

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>

#include "doctor/checks.h"

namespace huddle::doctor {
namespace {

using ::testing::HasSubstr;

TEST(Watching, SaysWhatIsSeenAndWhatIsNot) {
  const threads::Trial works{.works = true, .why_not = {}, .fault_s = 1.5e-6};
  const std::vector<Finding> all = check_watching({works, works, works, works});
  EXPECT_EQ(count(all, State::works), 4);
  EXPECT_THAT(all[1].found, HasSubstr("1.5 us"));
  EXPECT_THAT(all[1].found, HasSubstr("reads are not"));
  EXPECT_THAT(all[3].found, HasSubstr("--observer bpf"));
}

TEST(Watching, SaysWhatItWouldTake) {
  const threads::Trial not_here{.works = false, .why_not = "it is too old"};
  const std::vector<Finding> all = check_watching({not_here, not_here, not_here, not_here});
  EXPECT_EQ(all[0].state, State::limited);
  EXPECT_EQ(all[0].command, "sysctl kernel.perf_event_paranoid=2");
  EXPECT_EQ(all[1].state, State::limited);
  EXPECT_EQ(all[1].found, "it is too old");
  EXPECT_THAT(all[1].remedy, HasSubstr("6.7"));
  EXPECT_EQ(all[2].state, State::works);  // nobody needs it
  EXPECT_EQ(all[3].state, State::works);
  EXPECT_EQ(all[3].found, "it is too old: not needed");
}

TEST(Watching, TellsOfThreadsThatWereLeftBound) {
  const threads::Trial works{.works = true};
  const std::vector<Finding> all = check_watching({.page_faults = works,
                                                   .protection = works,
                                                   .soft_dirty = works,
                                                   .bpf = works,
                                                   .given_back = 3});
  EXPECT_EQ(all.back().id, "bound-threads");
  EXPECT_THAT(all.back().found, HasSubstr("3 threads"));
  EXPECT_EQ(check_watching({works, works, works, works}).size(), 4U);
}

}  // namespace
}  // namespace huddle::doctor

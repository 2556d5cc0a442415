// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>

#include "../../common/fake_system.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Watching, ReportsWhatIsVisible) {
  const threads::Trial works{.works = true, .why_not = {}, .fault_s = 1.5e-6};
  const std::vector<Finding> all = check_watching({works, works, works, works, {}}, System());
  EXPECT_EQ(count(all, State::works), 5);
  EXPECT_THAT(all[1].found, HasSubstr("1.5 us"));
  EXPECT_THAT(all[1].found, HasSubstr("reads are not"));
  EXPECT_THAT(all[4].found, HasSubstr("--observer bpf"));
}

TEST(Watching, ReportsRequirements) {
  const threads::Trial not_here{.works = false, .why_not = "it is too old"};
  const std::vector<Finding> all =
      check_watching({not_here, not_here, not_here, not_here, {}}, System());
  EXPECT_EQ(all[0].state, State::limited);
  EXPECT_EQ(all[0].command, "sysctl kernel.perf_event_paranoid=2");
  EXPECT_EQ(all[1].state, State::limited);
  EXPECT_EQ(all[1].found, "it is too old");
  EXPECT_THAT(all[1].remedy, HasSubstr("6.7"));
  EXPECT_EQ(all[2].state, State::works);  // not needed
  EXPECT_EQ(all[4].state, State::works);
  EXPECT_EQ(all[4].found, "it is too old; not required");
}

// Based on what NUMA balancing has done so far; huddle changes nothing.
TEST(Watching, ReportsWhetherReadsAreVisible) {
  const threads::Trial works{.works = true};
  const auto found = [&works](const System& system) {
    return check_watching({works, works, works, works, {}}, system)[3].found;
  };
  FakeSystem fake;
  EXPECT_THAT(found(fake.system()), HasSubstr("no NUMA balancing"));
  fake.file("/proc/sys/kernel/numa_balancing", "0\n");
  EXPECT_THAT(found(fake.system()),
              AllOf(HasSubstr("--allow-sysctl"), HasSubstr("no page fault since")));
  fake.file("/proc/sys/kernel/numa_balancing", "1\n")
      .file("/proc/vmstat", "numa_pte_updates 9\nnuma_hint_faults 7\n");
  EXPECT_THAT(found(fake.system()), AllOf(HasSubstr("which is on"), HasSubstr("7 page faults")));
}

TEST(Watching, ReportsRepairs) {
  const threads::Trial works{.works = true};
  const WaysToWatch ways{.page_faults = works,
                         .protection = works,
                         .soft_dirty = works,
                         .bpf = works,
                         .repaired = {.threads = 3, .values = 1}};
  const std::vector<Finding> all = check_watching(ways, System());
  ASSERT_EQ(all.size(), 7U);
  EXPECT_EQ(all[5].id, "balancing-left");
  EXPECT_EQ(all[6].id, "bound-threads");
  EXPECT_THAT(all[6].found, HasSubstr("3 threads"));
  EXPECT_EQ(check_watching({works, works, works, works, {}}, System()).size(), 5U);
}

}  // namespace
}  // namespace huddle::doctor

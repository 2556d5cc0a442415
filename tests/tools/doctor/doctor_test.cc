// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs all checks on the machine that runs the test.
#include "tools/doctor/doctor.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace huddle::doctor {
namespace {

TEST(Examine, ReportsCostAndRemedyOnlyForProblems) {
  const auto findings = examine({});
  ASSERT_FALSE(findings.empty());
  for (const Finding& finding : findings) {
    const bool works = finding.state == State::works;
    EXPECT_FALSE(finding.found.empty()) << finding.id;
    EXPECT_EQ(finding.cost.empty(), works) << finding.id;
    EXPECT_EQ(finding.remedy.empty(), works) << finding.id;
    EXPECT_TRUE(!works || finding.command.empty()) << finding.id;
  }
}

TEST(Examine, ReportsEachCheckOnceAndGroupsTogether) {
  std::set<std::string> ids;
  std::set<std::string> ended_groups;
  std::string group;
  for (const Finding& finding : examine({})) {
    EXPECT_TRUE(ids.insert(finding.id).second) << finding.id;
    if (finding.group != group) ended_groups.insert(group);
    group = finding.group;
    EXPECT_EQ(ended_groups.count(group), 0U) << group;
  }
}

}  // namespace
}  // namespace huddle::doctor

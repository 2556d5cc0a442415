// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>

#include "fake_system.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

TEST(CopyModules, AreReportedIfPresent) {
  FakeSystem fake;
  fake.file("/dev/xpmem", "");
  EXPECT_EQ(check_copy_modules(fake.system()).front().found, "XPMEM (/dev/xpmem)");
}

TEST(CopyModules, AbsenceIsNoProblem) {
  const FakeSystem fake;
  const Finding finding = check_copy_modules(fake.system()).front();
  EXPECT_EQ(finding.state, State::works);
  EXPECT_THAT(finding.found, ::testing::HasSubstr("neither"));
}

}  // namespace
}  // namespace huddle::doctor

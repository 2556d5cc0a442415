// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests the checks of `huddle report` before it draws. tests/python tests the drawings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"

namespace huddle::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Report, WithoutAFileIsAUsageErrorWithAnExample) {
  const Ran ran = Program().run({"report"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, StartsWith("huddle: report on what? Measure first: huddle bench --json"));
}

TEST(Report, WithoutPythonNamesThePackages) {
  const Ran ran = Program().environment("PATH=/nowhere").run({"report", "results.json"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("no python3 on the PATH"));
}

}  // namespace
}  // namespace huddle::cli

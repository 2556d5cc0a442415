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
  EXPECT_THAT(
      ran.err,
      StartsWith("huddle: a file of results is required; measure first: huddle bench --json"));
}

TEST(Report, WithoutPythonNamesThePackages) {
  const Ran ran = Program().environment("PATH=/nowhere").run({"report", "results.json"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("python3 is not in PATH"));
}

}  // namespace
}  // namespace huddle::cli

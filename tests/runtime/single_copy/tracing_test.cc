// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/single_copy/cma.h"

#include <gtest/gtest.h>

#include "../../common/fake_system.h"

namespace huddle::single_copy {
namespace {

bool asks(std::string_view scope) {
  FakeSystem fake;
  fake.file("/proc/sys/kernel/yama/ptrace_scope", scope);
  return yama_asks(fake.system());
}

TEST(Tracing, PermitIsNeededOnlyInRestrictedMode) {
  EXPECT_FALSE(asks("0\n"));
  EXPECT_TRUE(asks("1\n"));
  EXPECT_FALSE(asks("2\n"));
  EXPECT_FALSE(asks("3\n"));
  EXPECT_FALSE(yama_asks(FakeSystem().file("/proc/x", "").system()));
}

}  // namespace
}  // namespace huddle::single_copy

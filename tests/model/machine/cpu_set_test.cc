// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/topology.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "common/error.h"

namespace huddle::machine {
namespace {

TEST(CpuSet, ReadsAndWritesLinuxLists) {
  EXPECT_EQ(CpuSet::parse("0-3,8").cpus(), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(CpuSet::parse("8,1-2,0").text(), "0-2,8");
  EXPECT_TRUE(CpuSet::parse("").empty());
  EXPECT_EQ(CpuSet().text(), "");
}

TEST(CpuSet, RejectsInvalidLists) {
  for (const char* text : {"a", "1-", "-1", "3-1", "1,,2", ",", "1 2", "0-99999999", "0x3"}) {
    EXPECT_THROW(CpuSet::parse(text), InputError) << text;
  }
}

RC_GTEST_PROP(CpuSetProperty, TextRoundTrips, ()) {
  const CpuSet set(*rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 300)));
  RC_ASSERT(CpuSet::parse(set.text()) == set);
}

RC_GTEST_PROP(CpuSetProperty, BehavesLikeASet, ()) {
  const auto left = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
  const auto right = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
  const CpuSet a(left);
  const CpuSet b(right);
  RC_ASSERT(united(a, b).count() == a.count() + b.count() - common(a, b).count());
  RC_ASSERT(without(a, b).count() == a.count() - common(a, b).count());
  RC_ASSERT(a.intersects(b) == !common(a, b).empty());
  RC_ASSERT(a.contains(common(a, b)));
  RC_ASSERT(a.contains(b) == without(b, a).empty());
}

}  // namespace
}  // namespace huddle::machine

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/touch_stream.h"

#include <gtest/gtest.h>

namespace huddle::threads {
namespace {

TEST(AddressSpaces, DistinguishProcesses) {
  AddressSpaces spaces;
  const std::uint64_t first = spaces.of(10);
  EXPECT_NE(spaces.of(11), first);
  EXPECT_EQ(spaces.of(10), first);
  spaces.keep({11});
  EXPECT_EQ(spaces.size(), 1U);
  EXPECT_NE(spaces.of(10), first);  // another process with the reused id
}

}  // namespace
}  // namespace huddle::threads

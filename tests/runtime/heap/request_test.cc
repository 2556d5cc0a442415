// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/heap/start.h"

#include <gtest/gtest.h>

namespace huddle::heap {
namespace {

TEST(HeapWish, IsReadFromTheSettings) {
  const Request request = request_from([](std::string_view key) -> std::string {
    if (key == "heap-threshold") return "64K";
    return key == "heap-limit" ? "2G" : "5";
  });
  EXPECT_EQ(request.least_block_bytes, 65536U);
  EXPECT_EQ(request.cap_bytes, std::size_t{2} << 30);
  EXPECT_EQ(request.most_copied_bytes, 5U);
}

// No refusal is reported if no heap has been requested by preloading.
TEST(HeapStart, ReturnsNothingIfLibraryIsNotPreloaded) {
  const Started started = start({});
  EXPECT_FALSE(started.facts.has_value());
  EXPECT_EQ(started.refusal, "");
}

}  // namespace
}  // namespace huddle::heap

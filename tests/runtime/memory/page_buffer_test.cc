// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/page_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "common/error.h"

namespace huddle::memory {
namespace {

TEST(PageBuffer, IsAlignedRoundedUpAndZero) {
  const PageBuffer buffer(page_bytes() + 1);
  EXPECT_EQ(buffer.size(), 2 * page_bytes());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % page_bytes(), 0U);
  EXPECT_EQ(buffer.bytes().back(), std::byte{0});
  buffer.touch();
  EXPECT_EQ(buffer.data()[page_bytes()], std::byte{1});
}

TEST(PageBuffer, OfZeroBytesIsEmpty) {
  const PageBuffer buffer(0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0U);
  buffer.touch();
  buffer.forbid_huge_pages();
}

TEST(PageBuffer, MoveTransfersPages) {
  PageBuffer first(page_bytes());
  std::byte* const pages = first.data();
  PageBuffer second(std::move(first));
  PageBuffer third;
  third = std::move(second);
  EXPECT_EQ(third.data(), pages);
  third.touch();
}

TEST(PageBuffer, BindsToExistingNode) {
  const PageBuffer buffer(page_bytes(), 0);
  buffer.touch();
  EXPECT_EQ(buffer.bytes().front(), std::byte{1});
}

TEST(PageBuffer, ReportsMissingNode) {
  try {
    const PageBuffer buffer(page_bytes(), 1000);
    FAIL() << "memory on a node that is not there";
  } catch (const FailureError& error) {
    EXPECT_NE(std::string(error.what()).find("NUMA node 1000"), std::string::npos) << error.what();
  }
}

TEST(PageBuffer, ThrowsIfMemoryIsExhausted) {
  EXPECT_THROW(PageBuffer(std::size_t{1} << 60), FailureError);
}

}  // namespace
}  // namespace huddle::memory

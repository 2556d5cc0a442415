// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/single_copy/peer_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace huddle::single_copy {
namespace {

TEST(OwnMemory, ReadsAndWrites) {
  std::vector<std::byte> data(1000, std::byte{5});
  std::vector<std::byte> got(data.size());
  const RemoteAddress told = reinterpret_cast<std::uintptr_t>(data.data());
  OwnMemory memory;
  ASSERT_EQ(memory.read(got.data(), told, got.size()), fine);
  EXPECT_EQ(got, data);
  const std::vector<std::byte> sent(data.size(), std::byte{6});
  ASSERT_EQ(memory.write(told, sent.data(), sent.size()), fine);
  EXPECT_EQ(data, sent);
}

TEST(OwnMemory, IsMappedOnlyIfOwnerMarkedIt) {
  std::byte data{};
  const RemoteAddress told = reinterpret_cast<std::uintptr_t>(&data);
  const OwnMemory memory;
  EXPECT_EQ(memory.mapped(told), nullptr);
  EXPECT_EQ(memory.mapped(told | mapped_bit), &data);
}

}  // namespace
}  // namespace huddle::single_copy

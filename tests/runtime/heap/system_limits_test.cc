// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/heap/start.h"

#include <gtest/gtest.h>

#include "../../common/fake_system.h"

namespace huddle::heap {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t gibibyte = std::size_t{1} << 30;

void put_into_cgroup(FakeSystem& fake, std::string_view memory_max) {
  fake.file("/proc/self/cgroup", "0::/job_17\n")
      .file("/proc/self/mountinfo", "35 31 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
      .file("/sys/fs/cgroup/job_17/memory.max", memory_max);
}

TEST(HeapLimits, LimitForkCopyToFractionOfCgroupMemory) {
  FakeSystem narrow;
  put_into_cgroup(narrow, "1073741824\n");
  EXPECT_EQ(most_copied_bytes(gibibyte, narrow.system(), 256 * gibibyte), 64 * mebibyte);
  EXPECT_EQ(most_copied_bytes(5, narrow.system(), 256 * gibibyte), 5U);
}

TEST(HeapLimits, LimitForkCopyToFractionOfMachineMemory) {
  FakeSystem free;
  put_into_cgroup(free, "max\n");
  EXPECT_EQ(most_copied_bytes(gibibyte, free.system(), 256 * gibibyte), gibibyte);
  EXPECT_EQ(most_copied_bytes(gibibyte, free.system(), 4 * gibibyte), 256 * mebibyte);
}

}  // namespace
}  // namespace huddle::heap

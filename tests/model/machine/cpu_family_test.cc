// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/cpu_family.h"

#include <gtest/gtest.h>

namespace huddle::machine {
namespace {

TEST(CpuFamily, FollowsFromModelNumber) {
  EXPECT_EQ(cpu_family("AMD EPYC 7551").name, "Zen");
  EXPECT_EQ(cpu_family("AMD EPYC 7R13 Processor").name, "Zen 3");
  EXPECT_EQ(cpu_family("AMD EPYC 9554 64-Core Processor").name, "Zen 4");
  EXPECT_EQ(cpu_family("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz").name, "Ice Lake");
  EXPECT_EQ(cpu_family("Intel(R) Xeon(R) Gold 6242 CPU @ 2.80GHz").name, "Skylake");
  EXPECT_EQ(cpu_family("Intel(R) Xeon(R) CPU E5-2620 v4 @ 2.10GHz").name, "Xeon before Skylake");
}

TEST(CpuFamily, FollowsFromItsName) {
  EXPECT_EQ(cpu_family("Intel Xeon (Skylake)").name, "Skylake");
  EXPECT_EQ(cpu_family("something with Zen 2 cores").name, "Zen 2");
}

TEST(CpuFamily, OfUnknownProcessorHasNoNameAndLeastMisses) {
  for (const char* const model : {"", "AMD EPYC", "Intel(R) Xeon(R) Processor", "AMD EPYC 7"}) {
    EXPECT_EQ(cpu_family(model).name, "") << model;
  }
  EXPECT_EQ(cpu_family("").outstanding_misses, 10);
  EXPECT_EQ(cpu_family("Intel(R) Xeon(R) Processor").outstanding_misses, 10);
  EXPECT_EQ(cpu_family("AMD EPYC").outstanding_misses, 8);
}

TEST(CpuFamily, SharesL3InSocketOnlyIfKnown) {
  EXPECT_TRUE(cpu_family("Skylake").shares_l3_in_socket());
  EXPECT_FALSE(cpu_family("Zen 3").shares_l3_in_socket());
  EXPECT_FALSE(cpu_family("").shares_l3_in_socket());
}

}  // namespace
}  // namespace huddle::machine

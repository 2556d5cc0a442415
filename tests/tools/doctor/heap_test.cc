// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_system.h"

namespace huddle::doctor {
namespace {

using machine::ArrayPlace;
using machine::Origin;
using ::testing::HasSubstr;

machine::Machine with_heap_loads(double load_ns) {
  machine::Machine machine;
  machine.arrays = {{ArrayPlace::program, 10, 5, 0.05, Origin::measured},
                    {ArrayPlace::heap, load_ns, 5, 0.05, Origin::measured}};
  return machine;
}

Finding judged(double load_ns, std::string_view shared_huge_pages) {
  FakeSystem fake;
  fake.file("/sys/kernel/mm/transparent_hugepage/shmem_enabled", shared_huge_pages);
  return judge_heap(with_heap_loads(load_ns), fake.system());
}

TEST(JudgeHeap, WorksIfHeapCostsNothing) {
  const Finding finding = judged(10.3, "always within_size advise [never] deny force");
  EXPECT_EQ(finding.state, State::works);
  EXPECT_THAT(finding.found, HasSubstr("1.03 times"));
}

TEST(JudgeHeap, ReportsCostAndRemedy) {
  const Finding finding = judged(16, "always within_size advise [never] deny force");
  EXPECT_EQ(finding.state, State::limited);
  EXPECT_THAT(finding.found, HasSubstr("1.60 times"));
  EXPECT_THAT(finding.cost, HasSubstr("--heap on"));
  EXPECT_THAT(finding.command, HasSubstr("shmem_enabled"));
}

TEST(JudgeHeap, HasNoRemedyWithHugePages) {
  EXPECT_EQ(judged(16, "always within_size [advise] never deny force").command, "");
}

TEST(JudgeHeap, RequestsCalibrationIfNotMeasured) {
  const Finding finding = judge_heap(machine::Machine(), FakeSystem().system());
  EXPECT_EQ(finding.state, State::limited);
  EXPECT_EQ(finding.command, "huddle calibrate");
}

}  // namespace
}  // namespace huddle::doctor

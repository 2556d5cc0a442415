// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/harness/guideline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/error.h"

namespace huddle::bench {
namespace {

using select::Operation;
using testing::Contains;
using testing::IsSupersetOf;

std::vector<std::string> texts_about(const std::vector<Operation>& operations) {
  std::vector<std::string> texts;
  for (const Guideline& guideline : guidelines_about(operations)) texts.push_back(text(guideline));
  return texts;
}

// Returns the estimate from batches whose ratios are spread evenly over an interval.
Estimate estimate_within(double least, double most, int batches = 12) {
  std::vector<double> ratios;
  for (int i = 0; i < batches; ++i) ratios.push_back(least + (most - least) * i / (batches - 1));
  return estimate(ratios);
}

TEST(Guideline, TextNamesCallsAndSizes) {
  EXPECT_THAT(texts_about({Operation::gather}),
              IsSupersetOf({"gather(n) <= allgather(n)", "gather(n) <= reduce(pn) + local(pn)",
                            "gather(n) <= gatherv(n)", "gather(n) <= gather(2n)",
                            "gather(2n) <= 2 gather(n)"}));
  EXPECT_THAT(texts_about({Operation::bcast}),
              Contains("bcast(n) <= scatter(n/p) + allgather(n/p)"));
  EXPECT_EQ(texts_about({Operation::barrier}),
            (std::vector<std::string>{"barrier <= allreduce(8)"}));
}

TEST(Guideline, AllAreDifferentAndNoneIsAboutVForms) {
  const auto texts = texts_about({select::operations.begin(), select::operations.end()});
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size());
  EXPECT_EQ(texts.size(), mockup_traits.size() - 1 + 2 * 10);
  EXPECT_TRUE(guidelines_about({Operation::gatherv, Operation::alltoallw}).empty());
}

TEST(Guideline, OperationsAreSelectedAsElsewhere) {
  EXPECT_EQ(guidelines_from(""), guidelines_from("all"));
  EXPECT_EQ(guidelines_from("MPI_Scan,bcast"),
            guidelines_about({Operation::scan, Operation::bcast}));
  EXPECT_THROW(guidelines_from("gatherv"), UsageError);
  EXPECT_THROW(guidelines_from("nonsense"), UsageError);
}

TEST(Guideline, PartsAreWholeElementsAndCoverTheMessage) {
  EXPECT_EQ(bytes_of(Extent::part, 8, 3), 8U);
  EXPECT_EQ(bytes_of(Extent::part, 1024, 3), 344U);
  EXPECT_EQ(bytes_of(Extent::part, 1024, 4), 256U);
  EXPECT_EQ(bytes_of(Extent::all, 1024, 3), 3072U);
  EXPECT_EQ(bytes_of(Extent::element, 0, 3), 8U);
  EXPECT_EQ(scratch_bytes(Mockup::reduce_scatter_block_by_reduce_then_scatter, 16, 3), 48U);
  EXPECT_EQ(scratch_bytes(Mockup::bcast_by_scatter_allgather, 1024, 4), 256U);
}

TEST(Guideline, BarrierHasOnePointAndOthersOnePerSize) {
  const auto points = guideline_points(guidelines_from("barrier,scan"), {8, 64}, 4);
  EXPECT_EQ(points.size(), 1U + 2 * 3);
  EXPECT_EQ(points.front().bytes, 0U);
  EXPECT_EQ(points.back().bytes, 64U);
}

TEST(Guideline, CountsMustFitIntoAnInt) {
  const std::size_t large = std::size_t{1} << 28;
  EXPECT_NO_THROW(guideline_points(guidelines_from("bcast"), {large}, 64));
  EXPECT_THROW(guideline_points(guidelines_from("alltoall"), {large}, 64), UsageError);
}

TEST(GuidelineVerdict, IsAViolationOnlyIfTheWholeIntervalIsAbove) {
  EXPECT_EQ(verdict_of(estimate_within(1.2, 1.6), 0.05), GuidelineVerdict::violated);
  EXPECT_EQ(verdict_of(estimate_within(0.9, 1.6), 0.05), GuidelineVerdict::open);
  EXPECT_EQ(verdict_of(estimate_within(0.5, 0.8), 0.05), GuidelineVerdict::holds);
  EXPECT_EQ(verdict_of(estimate_within(1.0, 1.0), 0), GuidelineVerdict::holds);
}

TEST(GuidelineVerdict, AllowsForTheTolerance) {
  const Estimate slower = estimate_within(1.10, 1.12);
  EXPECT_EQ(verdict_of(slower, 0.05), GuidelineVerdict::violated);
  EXPECT_EQ(verdict_of(slower, 0.11), GuidelineVerdict::open);
  EXPECT_EQ(verdict_of(slower, 0.2), GuidelineVerdict::holds);
}

TEST(GuidelineVerdict, IsOpenWithTooFewBatches) {
  EXPECT_EQ(verdict_of(estimate_within(3, 4, 4), 0.05), GuidelineVerdict::open);
  EXPECT_EQ(verdict_of(estimate_within(0.3, 0.4, 4), 0.05), GuidelineVerdict::open);
}

TEST(GuidelineVerdict, ViolationMustBeFoundTwice) {
  const Estimate above = estimate_within(1.2, 1.6);
  const Estimate around = estimate_within(0.9, 1.2);
  const Estimate below = estimate_within(0.5, 0.8);
  EXPECT_EQ(verdict_of(above, above, 0.05), GuidelineVerdict::violated);
  EXPECT_EQ(verdict_of(above, around, 0.05), GuidelineVerdict::open);
  EXPECT_EQ(verdict_of(above, below, 0.05), GuidelineVerdict::open);
  EXPECT_EQ(verdict_of(below, above, 0.05), GuidelineVerdict::holds);
}

}  // namespace
}  // namespace huddle::bench

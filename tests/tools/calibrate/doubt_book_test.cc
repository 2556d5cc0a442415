// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/sampling.h"

#include <gtest/gtest.h>

#include <vector>

namespace huddle::calibrate {
namespace {

Measured steady() {
  Measured measured;
  measured.summary = summarize(std::vector<double>(9, 5.0));
  measured.attempts = 1;
  return measured;
}

Measured unsteady(double badness, const std::string& reason) {
  Measured measured = steady();
  measured.attempts = 3;
  measured.verdict = {{reason}, badness};
  return measured;
}

TEST(MeasurementLog, HasNoDoubtsAboutSteadyResults) {
  MeasurementLog book;
  book.record("copy", "64", steady());
  EXPECT_TRUE(book.doubts().empty());
  EXPECT_EQ(book.measurements(), 1);
}

TEST(MeasurementLog, ReportsWorstMeasurementOfStep) {
  MeasurementLog book;
  book.record("copy", "64", unsteady(2, "it spread"));
  book.record("copy", "4K", unsteady(7, "it drifted"));
  book.record("copy", "1M", unsteady(3, "it was late"));
  book.record("copy", "4M", steady());
  const auto doubts = book.doubts();
  ASSERT_EQ(doubts.size(), 1U);
  EXPECT_EQ(book.doubtful(), 3);
  EXPECT_EQ(doubts.front().what, "copy");
  EXPECT_EQ(doubts.front().why,
            "3 of 4 measurements unsteady; the worst, 4K (attempts: 3): it drifted");
}

TEST(MeasurementLog, CountsMeasurementsWithoutTime) {
  MeasurementLog book;
  book.record("copy", "64", steady());
  book.record("copy", "4K", Measured{});
  EXPECT_EQ(book.doubtful(), 1);
  ASSERT_EQ(book.doubts().size(), 1U);
  EXPECT_EQ(book.doubts().front().why, "1 of 2 measurements did not run for lack of time");
}

TEST(MeasurementLog, ReportsDisturbedHardwareThreads) {
  MeasurementLog book;
  Measured measured = steady();
  measured.threads = {ThreadUse{0, 100, 100, 0}, ThreadUse{3, 100, 40, 7}};
  book.record("line", "0 - 3", measured);
  measured.threads = {ThreadUse{0, 100, 100, 0}};
  book.record("copy", "64", measured);
  const auto doubts = book.doubts();
  ASSERT_EQ(doubts.size(), 1U);
  EXPECT_EQ(doubts.front().what, "hardware thread 3");
  EXPECT_EQ(doubts.front().why,
            "other programs ran on it in 1 of 1 measurements, for up to 60 % of the time");
}

TEST(MeasurementLog, KeepsFailures) {
  MeasurementLog book;
  book.add("copy, 2 cores", "cannot get 1G of memory");
  ASSERT_EQ(book.doubts().size(), 1U);
  EXPECT_EQ(book.doubts().front().why, "cannot get 1G of memory");
}

}  // namespace
}  // namespace huddle::calibrate

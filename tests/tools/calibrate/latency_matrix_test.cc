// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/latency_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/error.h"

namespace huddle::calibrate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    (void)parse_latencies(text, "m.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LatencyMatrix, ReadsTheLowerTriangle) {
  const LatencyMatrix matrix = parse_latencies(",,\n20,,\n50.5,60,\n", "m.csv");
  ASSERT_EQ(matrix.size(), 3U);
  EXPECT_EQ(matrix.at(0, 1), 20);
  EXPECT_EQ(matrix.at(0, 2), 50.5);
  EXPECT_EQ(matrix.at(2, 1), 60);
}

TEST(LatencyMatrix, UsesTheMeanOfBothDirections) {
  const LatencyMatrix matrix = parse_latencies("0, 30\r\n20, 0\r\n", "m.csv");
  EXPECT_EQ(matrix.at(0, 1), 25);
}

TEST(LatencyMatrix, RefusesRaggedRows) {
  EXPECT_THAT(error_of(",,\n20,,\n50,60\n"),
              AllOf(HasSubstr("m.csv:3: "), HasSubstr("has 2 fields, and the first has 3")));
}

TEST(LatencyMatrix, RefusesMatrixThatIsNotSquare) {
  EXPECT_THAT(error_of(",,\n20,,\n"), HasSubstr("2 rows of 3 fields are not a square matrix"));
}

TEST(LatencyMatrix, RefusesFieldsThatAreNoLatency) {
  EXPECT_THAT(error_of(",\n-3,\n"), HasSubstr("m.csv:2: '-3' in field 1 is no latency"));
  EXPECT_THAT(error_of(",\nnan,\n"), HasSubstr("'nan' in field 1 is no latency"));
  EXPECT_THAT(error_of(",\ninf,\n"), HasSubstr("'inf' in field 1 is no latency"));
  EXPECT_THAT(error_of(",\n0,\n"), HasSubstr("'0' in field 1 is no latency"));
  EXPECT_THAT(error_of(",\n20ns,\n"), HasSubstr("'20ns' in field 1 is no latency"));
  EXPECT_THAT(error_of(",x\n20,\n"), HasSubstr("m.csv:1: 'x' in field 2 is no latency"));
}

TEST(LatencyMatrix, RefusesMissingLatency) {
  EXPECT_THAT(error_of(",,\n20,,\n50,,\n"),
              AllOf(HasSubstr("m.csv:3: "), HasSubstr("hardware threads 1 and 2 is missing")));
}

TEST(LatencyMatrix, RefusesFileWithoutLatencies) {
  EXPECT_THAT(error_of(""), HasSubstr("contains no latencies"));
  EXPECT_THAT(error_of("\n"), HasSubstr("contains no latencies"));
  EXPECT_THAT(error_of("5\n"), HasSubstr("a machine file needs 2 to"));
}

}  // namespace
}  // namespace huddle::calibrate

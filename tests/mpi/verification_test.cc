// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/verification.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace huddle::mpi {
namespace {

const huddle_stub_interface no_calls = {nullptr, "/usr/lib/libmpi.so", nullptr, 0};

// 3e38, 0, 3e38 and -3e38, added in sequence and in pairs.
TEST(CompareRounded, PermitsASumThatOverflowsInOneOrder) {
  const float in_sequence = std::numeric_limits<float>::infinity();
  const float in_pairs = 3e38F;
  const std::vector<double> scale = {9e38};
  EXPECT_FALSE(compare_rounded(memory::Type::float32, &in_sequence, &in_pairs, 1, 4, scale));
  const float other = 2e38F;
  EXPECT_TRUE(compare_rounded(memory::Type::float32, &other, &in_pairs, 1, 4, {3.1e38}));
}

TEST(Verification, ReportsEvenIfNothingWasCompared) {
  const Verification verification;
  EXPECT_EQ(verification.report(no_calls),
            "0 calls compared, 0 with different results, 0 not compared");
  EXPECT_FALSE(verification.has_differences());
}

TEST(Verification, CountsDifferencesAmongComparedCalls) {
  Verification verification;
  for (int i = 0; i < 1234; ++i) verification.note_equal();
  EXPECT_TRUE(verification.note_difference()) << "the first one is printed";
  EXPECT_FALSE(verification.note_difference());
  EXPECT_TRUE(verification.has_differences());
  EXPECT_EQ(verification.report(no_calls),
            "1,236 calls compared, 2 with different results, 0 not compared");
}

TEST(Verification, ListsAllReasonsWithTheMostFrequentFirst) {
  const std::array<huddle_fallback, 2> fallbacks = {{{"MPI_Ibcast", 2}, {"MPI_Iscan", 3}}};
  const huddle_stub_interface stub = {nullptr, "/usr/lib/libmpi.so", fallbacks.data(),
                                      fallbacks.size()};
  Verification verification;
  verification.note_skipped(FallbackReason::one_rank);
  for (int i = 0; i < 6; ++i) verification.note_skipped(Incomparable::mpi_failed);
  EXPECT_EQ(
      verification.report(stub),
      "0 calls compared, 0 with different results, 12 not compared (error reported by the MPI: 6, "
      "nonblocking collective: 5, single rank: 1)");
}

}  // namespace
}  // namespace huddle::mpi

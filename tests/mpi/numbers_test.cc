// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <limits>
#include <vector>

namespace huddle::mpi {
namespace {

using memory::Type;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

std::optional<Difference> rounded(const std::vector<double>& ours,
                                  const std::vector<double>& theirs, double scale) {
  return compare_rounded(Type::float64, ours.data(), theirs.data(), ours.size(), 4,
                         std::vector<double>(ours.size(), scale));
}

TEST(Numbers, MagnitudesOfComplexNumbersIncludeBothParts) {
  const std::array<double, 2> reals = {-2.5, 3};
  EXPECT_THAT(magnitudes(Type::float64, reals.data(), 2), ElementsAre(2.5, 3));
  const std::array<std::complex<float>, 1> complex = {{{-3, 4}}};
  EXPECT_THAT(magnitudes(Type::complex32, complex.data(), 1), ElementsAre(5));
}

TEST(Numbers, MayDifferByTheRoundingBoundOnly) {
  // The result is small compared with the summands, which determine the rounding.
  EXPECT_FALSE(rounded({1, 1}, {1, 1 + 3 * 1000 * epsilon}, 1000));
  const auto difference = rounded({1, 1}, {1, 1 + 5 * 1000 * epsilon}, 1000);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->at, 1U);
  EXPECT_THAT(difference->text, HasSubstr("the permitted difference is"));
}

TEST(Numbers, InfinityOnBothSidesIsNoDifference) {
  EXPECT_FALSE(rounded({infinity, nan}, {nan, -infinity}, 1));
  EXPECT_TRUE(rounded({infinity}, {1}, 1));
  EXPECT_FALSE(rounded({infinity}, {1}, infinity));  // the sum of magnitudes overflowed as well
}

TEST(Numbers, ComplexProductsRoundMoreOften) {
  const std::array<std::complex<double>, 1> ours = {{{1, 0}}};
  const std::array<std::complex<double>, 1> theirs = {{{1, 10 * epsilon}}};
  EXPECT_FALSE(compare_rounded(Type::complex64, ours.data(), theirs.data(), 1, 4, {1}));
  EXPECT_TRUE(compare_rounded(Type::complex64, ours.data(), theirs.data(), 1, 2, {1}));
}

TEST(Numbers, ValuesAreComparedAsValues) {
  const std::array<float, 3> ours = {0.0F, 1, std::numeric_limits<float>::quiet_NaN()};
  const std::array<float, 3> same = {-0.0F, 1, 5};
  const std::array<float, 3> other = {0.0F, 2, 5};
  EXPECT_FALSE(compare_values(Type::float32, ours.data(), same.data(), 3));
  const auto difference = compare_values(Type::float32, ours.data(), other.data(), 3);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->at, 1U);
  EXPECT_EQ(difference->text, "1 and 2");
}

}  // namespace
}  // namespace huddle::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/reduction.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "reduction_reference.h"

namespace huddle::memory {
namespace {

constexpr std::array all_operators = {
    Operator::sum,         Operator::product,     Operator::min,          Operator::max,
    Operator::logical_and, Operator::logical_or,  Operator::logical_xor,  Operator::bitwise_and,
    Operator::bitwise_or,  Operator::bitwise_xor, Operator::min_location, Operator::max_location};

struct Case {
  Type type;
  Operator op;
  std::string text() const { return std::string(name(op)) + " of " + std::string(name(type)); }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const TypeFacts& facts : type_facts) {
    for (const Operator op : all_operators) {
      if (is_defined(facts.type, op)) cases.push_back({facts.type, op});
    }
  }
  return cases;
}

// A kernel that this CPU can run for a case, with the name of its instruction set.
struct Kernel {
  std::string target;
  Reduction reduction;
};
std::vector<Kernel> kernels_of(const Case& tested) {
  std::vector<Kernel> kernels = {{"the chosen one", reduction(tested.type, tested.op)}};
  for (const VectorTarget& target : vector_targets()) {
    CombineFunction* const combine = target.find(tested.type, tested.op);
    if (combine == nullptr || !target.runs_here()) continue;
    kernels.push_back({std::string(target.name), kernels.front().reduction});
    kernels.back().reduction.combine = combine;
  }
  return kernels;
}

enum class Aliasing { none, to_is_left, to_is_right, left_is_right, all_one };
constexpr std::array all_aliasings = {Aliasing::none, Aliasing::to_is_left, Aliasing::to_is_right,
                                      Aliasing::left_is_right, Aliasing::all_one};

using Bytes = std::vector<std::byte>;

struct Arrays {
  Bytes left;
  Bytes right;
  Bytes expected;
};

Arrays arrays_of(const Case& tested, std::size_t count, Aliasing aliasing, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Arrays arrays;
  arrays.left = random_elements(tested.type, count, random);
  arrays.right = random_elements(tested.type, count, random);
  const bool is_one = aliasing == Aliasing::left_is_right || aliasing == Aliasing::all_one;
  if (is_one) arrays.right = arrays.left;
  arrays.expected.resize(arrays.left.size());
  const std::size_t step = type_bytes(tested.type);
  for (std::size_t at = 0; at < arrays.left.size(); at += step) {
    combine_reference(tested.type, tested.op, arrays.expected.data() + at, arrays.left.data() + at,
                      arrays.right.data() + at);
  }
  return arrays;
}

// Holds a copy of the bytes at this offset from a cache line start, between guard bytes.
class Fenced {
 public:
  Fenced(const Bytes& bytes, std::size_t offset)
      : size_(bytes.size()), area_(bytes.size() + offset + 3 * fence_bytes, fence) {
    const auto address = reinterpret_cast<std::uintptr_t>(area_.data());
    start_ = 2 * fence_bytes - address % fence_bytes + offset;
    std::copy(bytes.begin(), bytes.end(), data());
  }
  std::byte* data() { return area_.data() + start_; }
  bool holds(const Bytes& bytes) { return std::equal(bytes.begin(), bytes.end(), data()); }
  bool is_whole() {
    const auto is_fence = [](std::byte b) { return b == fence; };
    return std::all_of(area_.data(), data(), is_fence) &&
           std::all_of(data() + size_, area_.data() + area_.size(), is_fence);
  }

 private:
  static constexpr std::byte fence{0xA5};
  static constexpr std::size_t fence_bytes = 64;
  std::size_t size_;
  Bytes area_;
  std::size_t start_ = 0;
};

struct Offsets {
  std::size_t to = 0;
  std::size_t left = 0;
  std::size_t right = 0;
};

// Returns a description of the kernel's error, or an empty string.
std::string flaw(const Reduction& reduction, const Arrays& arrays, Offsets offsets,
                 Aliasing aliasing) {
  Fenced to(Bytes(arrays.left.size(), std::byte{0x5A}), offsets.to);
  Fenced left(arrays.left, offsets.left);
  Fenced right(arrays.right, offsets.right);
  const std::size_t count = arrays.left.size() / reduction.element_bytes;
  const bool one_source = aliasing == Aliasing::left_is_right || aliasing == Aliasing::all_one;
  Fenced& second = one_source ? left : right;
  const bool into_left = aliasing == Aliasing::to_is_left || aliasing == Aliasing::all_one;
  Fenced& target = into_left ? left : aliasing == Aliasing::to_is_right ? right : to;
  reduction(target.data(), left.data(), second.data(), count);
  if (!target.is_whole()) return "wrote beyond its array";
  if (!target.holds(arrays.expected)) return "wrong bits";
  if (&target != &left && !left.holds(arrays.left)) return "changed left";
  if (&target != &right && !right.holds(arrays.right)) return "changed right";
  return "";
}

// Counts around every vector length, at offsets that are unaligned for every type.
TEST(Reduction, MatchesReferenceForEveryTypeAndOperator) {
  const std::vector<std::size_t> counts = {0,  1,  2,  3,  4,  5,  7,  8,   9,   15,  16,  17,
                                           31, 32, 33, 63, 64, 65, 95, 127, 128, 129, 257, 1000};
  for (const Case& tested : all_cases()) {
    for (const std::size_t count : counts) {
      const Arrays arrays = arrays_of(tested, count, Aliasing::none, count);
      for (const Kernel& kernel : kernels_of(tested)) {
        EXPECT_EQ(flaw(kernel.reduction, arrays, {1, 7, 13}, Aliasing::none), "")
            << tested.text() << " on " << kernel.target << ", count " << count;
      }
    }
  }
}

RC_GTEST_PROP(Reduction, MatchesReferenceAtAnyOffset, ()) {
  const auto tested = *rc::gen::elementOf(all_cases());
  const auto aliasing = *rc::gen::elementOf(all_aliasings);
  const auto count = *rc::gen::oneOf(rc::gen::inRange<std::size_t>(0, 140),
                                     rc::gen::inRange<std::size_t>(0, 5000));
  const auto offset = rc::gen::inRange<std::size_t>(0, 64);
  const Offsets offsets = {*offset, *offset, *offset};
  const Arrays arrays = arrays_of(tested, count, aliasing, *rc::gen::arbitrary<std::uint64_t>());
  for (const Kernel& kernel : kernels_of(tested)) {
    const std::string found = flaw(kernel.reduction, arrays, offsets, aliasing);
    if (!found.empty()) RC_FAIL(tested.text() + " on " + kernel.target + ": " + found);
  }
}

TEST(Reduction, WorksInPlaceForEveryTypeAndOperator) {
  for (const Case& tested : all_cases()) {
    for (const Aliasing aliasing : all_aliasings) {
      for (const std::size_t count : {1, 3, 37, 131}) {
        const Arrays arrays = arrays_of(tested, count, aliasing, count);
        for (const Kernel& kernel : kernels_of(tested)) {
          EXPECT_EQ(flaw(kernel.reduction, arrays, {}, aliasing), "")
              << tested.text() << " on " << kernel.target << ", aliasing "
              << static_cast<int>(aliasing);
        }
      }
    }
  }
}

TEST(Reduction, AcceptsNullForZeroElements) {
  for (const Case& tested : all_cases()) {
    for (const Kernel& kernel : kernels_of(tested)) {
      kernel.reduction(nullptr, nullptr, nullptr, 0);
    }
  }
}

TEST(Reduction, HasElementSizeOfType) {
  for (const Case& tested : all_cases()) {
    const Reduction found = reduction(tested.type, tested.op);
    EXPECT_NE(found.combine, nullptr) << tested.text();
    EXPECT_EQ(found.element_bytes, type_bytes(tested.type)) << tested.text();
    EXPECT_TRUE(found.commutative);
  }
}

// Each instruction set has its own code, and the best one that this CPU supports is selected.
TEST(VectorTargets, AreDistinctAndBestIsSelected) {
  const auto targets = vector_targets();
  ASSERT_FALSE(targets.empty());
  EXPECT_TRUE(targets.back().runs_here());
  std::vector<CombineFunction*> sums;
  for (const VectorTarget& target : targets) {
    sums.push_back(target.find(Type::float64, Operator::sum));
    ASSERT_NE(sums.back(), nullptr) << target.name;
    EXPECT_EQ(std::count(sums.begin(), sums.end(), sums.back()), 1) << target.name;
  }
  const auto best = std::find_if(targets.begin(), targets.end(),
                                 [](const VectorTarget& target) { return target.runs_here(); });
  EXPECT_EQ(reduction(Type::float64, Operator::sum).combine,
            sums[static_cast<std::size_t>(best - targets.begin())]);
}

// Reduces every half and every bfloat16 with a sample of others.
class SmallFloats : public testing::TestWithParam<Type> {};

TEST_P(SmallFloats, AreRoundedToNearest) {
  const Type type = GetParam();
  std::mt19937_64 random(7);
  constexpr std::size_t all = 65536;
  Bytes left(all * 2);
  for (unsigned i = 0; i < all; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    std::memcpy(left.data() + std::size_t{2} * i, &bits, 2);
  }
  for (const Operator op : {Operator::sum, Operator::product, Operator::min, Operator::max}) {
    for (int round = 0; round < 12; ++round) {
      Arrays arrays{left, random_elements(type, all, random), Bytes(left.size())};
      for (std::size_t at = 0; at < left.size(); at += 2) {
        combine_reference(type, op, arrays.expected.data() + at, arrays.left.data() + at,
                          arrays.right.data() + at);
      }
      for (const Kernel& kernel : kernels_of({type, op})) {
        ASSERT_EQ(flaw(kernel.reduction, arrays, {}, Aliasing::none), "")
            << name(op) << " on " << kernel.target;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallFloats, testing::Values(Type::float16, Type::bfloat16),
                         [](const auto& each) { return std::string(name(each.param)); });

template <typename T>
T combined(Type type, Operator op, T left, T right) {
  T result{};
  reduction(type, op)(&result, &left, &right, 1);
  return result;
}

TEST(Min, OrdersSignedZerosAndReturnsNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::signbit(combined(Type::float64, Operator::min, 0.0, -0.0)));
  EXPECT_TRUE(std::signbit(combined(Type::float64, Operator::min, -0.0, 0.0)));
  EXPECT_FALSE(std::signbit(combined(Type::float64, Operator::max, -0.0, 0.0)));
  EXPECT_TRUE(std::isnan(combined(Type::float64, Operator::min, nan, 1.0)));
  EXPECT_TRUE(std::isnan(combined(Type::float64, Operator::max, 1.0, nan)));
  EXPECT_TRUE(std::isnan(combined(Type::long_double, Operator::min, 1.0L, -std::nanl(""))));
  EXPECT_EQ(combined(Type::float32, Operator::min, -1.0F, 2.0F), -1.0F);
  EXPECT_EQ(combined(Type::float32, Operator::max, -1.0F, 2.0F), 2.0F);
}

TEST(Sum, HasSingleNaN) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto expected = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
  const double made = combined(Type::float64, Operator::sum, infinity, -infinity);
  const double passed = combined(Type::float64, Operator::sum, -std::nan("77"), 1.0);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(made), expected);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(passed), expected);
}

TEST(Product, OfComplexNumbersHasNoInfinityCorrection) {
  using Complex = std::array<double, 2>;
  const auto product = combined(Type::complex64, Operator::product, Complex{1, 2}, Complex{3, 4});
  EXPECT_EQ(product, (Complex{-5, 10}));
}

TEST(Product, OfBytesWraps) {
  EXPECT_EQ(combined(Type::uint8, Operator::product, std::uint8_t{20}, std::uint8_t{13}), 4);
  EXPECT_EQ(combined(Type::int8, Operator::product, std::int8_t{-128}, std::int8_t{-1}), -128);
}

TEST(MinLocation, TakesLowerIndexOfEqualValues) {
  const Located<double> early{-0.0, 3};
  const Located<double> late{0.0, 8};
  const auto found = combined(Type::float64_int, Operator::max_location, late, early);
  EXPECT_EQ(found.index, 3);
  EXPECT_TRUE(std::signbit(found.value));
  const auto lower =
      combined(Type::int_int, Operator::min_location, Located<int>{5, 1}, Located<int>{4, 9});
  EXPECT_EQ(lower.index, 9);
}

}  // namespace
}  // namespace huddle::memory

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace huddle::memory {
namespace {

TEST(Types, AreInEnumOrderWithDistinctNames) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < type_facts.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(type_facts[i].type), i) << type_facts[i].name;
    names.insert(type_facts[i].name);
  }
  EXPECT_EQ(names.size(), type_facts.size());
  EXPECT_EQ(name(Type::long_double_int), "long_double_int");
  EXPECT_EQ(name(Operator::max_location), "max_location");
}

// The structs that MPI's pair types correspond to.
TEST(Types, HaveSizesOfCStructs) {
  struct ShortInt {
    short value;
    int index;
  };
  struct DoubleInt {
    double value;
    int index;
  };
  EXPECT_EQ(type_bytes(Type::short_int), sizeof(ShortInt));
  EXPECT_EQ(type_bytes(Type::float64_int), sizeof(DoubleInt));
  EXPECT_EQ(type_bytes(Type::float32_int), 8U);
  EXPECT_EQ(type_bytes(Type::complex64), sizeof(std::complex<double>));
  EXPECT_EQ(type_bytes(Type::complex_long_double), sizeof(std::complex<long double>));
}

TEST(Operators, AreDefinedAsInMpi) {
  EXPECT_TRUE(is_defined(Type::int32, Operator::sum));
  EXPECT_TRUE(is_defined(Type::int32, Operator::logical_xor));
  EXPECT_TRUE(is_defined(Type::float16, Operator::max));
  EXPECT_TRUE(is_defined(Type::boolean, Operator::logical_and));
  EXPECT_TRUE(is_defined(Type::complex32, Operator::product));
  EXPECT_TRUE(is_defined(Type::long_double_int, Operator::max_location));
  EXPECT_FALSE(is_defined(Type::float64, Operator::bitwise_or));
  EXPECT_FALSE(is_defined(Type::float64, Operator::logical_or));
  EXPECT_FALSE(is_defined(Type::complex64, Operator::max));
  EXPECT_FALSE(is_defined(Type::boolean, Operator::sum));
  EXPECT_FALSE(is_defined(Type::int_int, Operator::min));
  EXPECT_FALSE(is_defined(Type::int32, Operator::min_location));
}

// An integer sum does not depend on the order or the implementation, a float sum does.
TEST(Types, AreExactForIntegers) {
  EXPECT_TRUE(is_exact(Type::int32));
  EXPECT_TRUE(is_exact(Type::boolean));
  EXPECT_TRUE(is_exact(Type::int_int));
  EXPECT_FALSE(is_exact(Type::float64));
  EXPECT_FALSE(is_exact(Type::bfloat16));
  EXPECT_FALSE(is_exact(Type::complex32));
  EXPECT_FALSE(is_exact(Type::float64_int));
}

}  // namespace
}  // namespace huddle::memory

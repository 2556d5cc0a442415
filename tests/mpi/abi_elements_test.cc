// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/abi/elements.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

namespace huddle::mpi {
namespace {

constexpr std::array<ElementKind, 14> kinds = {ElementKind::signed_integer,
                                               ElementKind::unsigned_integer,
                                               ElementKind::fortran_integer,
                                               ElementKind::address,
                                               ElementKind::byte,
                                               ElementKind::real,
                                               ElementKind::fortran_real,
                                               ElementKind::complex,
                                               ElementKind::fortran_complex,
                                               ElementKind::c_bool,
                                               ElementKind::logical,
                                               ElementKind::c_char,
                                               ElementKind::character,
                                               ElementKind::pair};

std::optional<memory::Type> type_of(std::string_view name, std::size_t bytes) {
  const Element* element = find_element(name);
  return element == nullptr ? std::nullopt : element_type(*element, bytes);
}

std::string operators_of(ElementKind kind) {
  std::string names;
  for (const NamedOperator& reduction : reductions) {
    if (allows(kind, reduction.op)) names += std::string(reduction.name.substr(4)) + " ";
  }
  return names;
}

TEST(Elements, AllowTheOperatorsOfTheStandard) {
  const std::string order = "MIN MAX ";
  const std::string sum = "SUM PROD ";
  const std::string truth = "LAND LOR LXOR ";
  const std::string bits = "BAND BOR BXOR ";
  const std::map<ElementKind, std::string> standard = {
      {ElementKind::signed_integer, sum + order + truth + bits},
      {ElementKind::unsigned_integer, sum + order + truth + bits},
      {ElementKind::fortran_integer, sum + order + bits},
      {ElementKind::address, sum + order + bits},
      {ElementKind::byte, bits},
      {ElementKind::real, sum + order},
      {ElementKind::fortran_real, sum + order},
      {ElementKind::complex, sum},
      {ElementKind::fortran_complex, sum},
      {ElementKind::c_bool, truth},
      {ElementKind::logical, truth},
      {ElementKind::c_char, ""},
      {ElementKind::character, ""},
      {ElementKind::pair, "MINLOC MAXLOC "},
  };
  ASSERT_EQ(standard.size(), kinds.size());
  for (const ElementKind kind : kinds) {
    EXPECT_EQ(operators_of(kind), standard.at(kind)) << static_cast<int>(kind);
  }
}

TEST(Elements, AllowOnlyOperatorsThatTheirTypeDefines) {
  for (const Element& element : elements) {
    for (const std::size_t bytes : {1U, 2U, 4U, 6U, 8U, 12U, 16U, 20U, 32U}) {
      const auto type = element_type(element, bytes);
      for (const NamedOperator& reduction : reductions) {
        const bool is_alike =
            allows(element.kind, reduction.op) || is_alike_beyond(element.kind, reduction.op);
        if (!type || !is_alike) continue;
        EXPECT_TRUE(memory::is_defined(*type, reduction.op)) << element.name << reduction.name;
      }
    }
  }
}

TEST(Elements, MapToATypeOfTheirSize) {
  for (const ElementKind kind : kinds) {
    for (std::size_t bytes = 0; bytes <= 64; ++bytes) {
      const auto type = element_type(kind, bytes);
      EXPECT_EQ(type ? memory::type_bytes(*type) : bytes, bytes) << static_cast<int>(kind);
    }
  }
}

TEST(Elements, MapToTheTypeOfTheirKindAndSize) {
  EXPECT_EQ(type_of("MPI_LONG", 8), memory::Type::int64);
  EXPECT_EQ(type_of("MPI_LONG", 4), memory::Type::int32);
  EXPECT_EQ(type_of("MPI_UNSIGNED_CHAR", 1), memory::Type::uint8);
  EXPECT_EQ(type_of("MPI_INTEGER", 8), memory::Type::int64);  // a program built with -i8
  EXPECT_EQ(type_of("MPI_CHAR", 1), memory::Type::int8);
  EXPECT_EQ(type_of("MPI_C_BOOL", 1), memory::Type::boolean);
  EXPECT_EQ(type_of("MPI_LOGICAL", 4), memory::Type::int32);
  EXPECT_EQ(type_of("MPI_REAL", 8), memory::Type::float64);
  EXPECT_EQ(type_of("MPI_REAL2", 2), memory::Type::float16);
  EXPECT_EQ(type_of("MPI_DOUBLE_COMPLEX", 16), memory::Type::complex64);
  EXPECT_EQ(type_of("MPI_LONG_DOUBLE", sizeof(long double)), memory::Type::long_double);
}

TEST(Elements, WithoutAMatchingTypeMapToNone) {
  EXPECT_EQ(type_of("MPI_INTEGER16", 16), std::nullopt);
  EXPECT_EQ(type_of("MPI_COMPLEX4", 4), std::nullopt);
  EXPECT_EQ(type_of("MPI_PACKED", 1), std::nullopt);
  EXPECT_EQ(type_of("MPI_2REAL", 8), std::nullopt);
  EXPECT_EQ(find_element("MPI_NONSENSE"), nullptr);
}

TEST(Elements, OfFortranNeverMapToExtendedPrecision) {
  const auto long_double =
      long_double_is_quadruple ? std::optional(memory::Type::long_double) : std::nullopt;
  EXPECT_EQ(type_of("MPI_REAL16", 16), long_double);
  const auto complex =
      long_double_is_quadruple ? std::optional(memory::Type::complex_long_double) : std::nullopt;
  EXPECT_EQ(type_of("MPI_COMPLEX32", 32), complex);
}

TEST(Elements, MapPairsByName) {
  EXPECT_EQ(type_of("MPI_SHORT_INT", 6), memory::Type::short_int);
  EXPECT_EQ(type_of("MPI_DOUBLE_INT", 12), memory::Type::float64_int);
  EXPECT_EQ(type_of("MPI_2INTEGER", 8), memory::Type::int_int);
  EXPECT_EQ(type_of("MPI_2INTEGER", 16), std::nullopt) << "two integers of 8 bytes";
}

TEST(Operators, AreFoundByName) {
  EXPECT_EQ(find_operator("MPI_PROD"), memory::Operator::product);
  EXPECT_EQ(find_operator("MPI_LXOR"), memory::Operator::logical_xor);
  EXPECT_EQ(find_operator("MPI_MAXLOC"), memory::Operator::max_location);
  EXPECT_EQ(find_operator("MPI_REPLACE"), std::nullopt);
}

}  // namespace
}  // namespace huddle::mpi

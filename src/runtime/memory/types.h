// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Element types and operators for which huddle has its own reductions.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace huddle::memory {

enum class Type {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  boolean,   // one byte: 0 is false, others are true; results are 0 or 1
  float16,   // IEEE half
  bfloat16,  // the upper half of a float
  float32,
  float64,
  long_double,
  complex32,  // pairs: real part, imaginary part
  complex64,
  complex_long_double,
  float32_int,  // a value and an int index (location), as a C struct
  float64_int,
  short_int,
  int_int,
  long_int,
  long_double_int,
};

enum class Operator {
  sum,
  product,
  min,
  max,
  logical_and,
  logical_or,
  logical_xor,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  min_location,
  max_location,
};

// A value and its index: MPI's pair types for MPI_MINLOC and MPI_MAXLOC.
template <typename Value>
struct Located {
  Value value;
  int index;
};

// Groups of types that have the same operators; see is_defined().
enum class TypeKind { integer, boolean, floating, complex, located };

struct TypeFacts {
  Type type;
  TypeKind kind;
  std::size_t bytes;
  std::string_view name;
};

inline constexpr std::array<TypeFacts, 23> type_facts = {{
    {Type::int8, TypeKind::integer, 1, "int8"},
    {Type::int16, TypeKind::integer, 2, "int16"},
    {Type::int32, TypeKind::integer, 4, "int32"},
    {Type::int64, TypeKind::integer, 8, "int64"},
    {Type::uint8, TypeKind::integer, 1, "uint8"},
    {Type::uint16, TypeKind::integer, 2, "uint16"},
    {Type::uint32, TypeKind::integer, 4, "uint32"},
    {Type::uint64, TypeKind::integer, 8, "uint64"},
    {Type::boolean, TypeKind::boolean, 1, "boolean"},
    {Type::float16, TypeKind::floating, 2, "float16"},
    {Type::bfloat16, TypeKind::floating, 2, "bfloat16"},
    {Type::float32, TypeKind::floating, 4, "float32"},
    {Type::float64, TypeKind::floating, 8, "float64"},
    {Type::long_double, TypeKind::floating, sizeof(long double), "long_double"},
    {Type::complex32, TypeKind::complex, 8, "complex32"},
    {Type::complex64, TypeKind::complex, 16, "complex64"},
    {Type::complex_long_double, TypeKind::complex, 2 * sizeof(long double), "complex_long_double"},
    {Type::float32_int, TypeKind::located, sizeof(Located<float>), "float32_int"},
    {Type::float64_int, TypeKind::located, sizeof(Located<double>), "float64_int"},
    {Type::short_int, TypeKind::located, sizeof(Located<short>), "short_int"},
    {Type::int_int, TypeKind::located, sizeof(Located<int>), "int_int"},
    {Type::long_int, TypeKind::located, sizeof(Located<long>), "long_int"},
    {Type::long_double_int, TypeKind::located, sizeof(Located<long double>), "long_double_int"},
}};

inline constexpr std::array<std::string_view, 12> operator_names = {
    "sum",         "product",     "min",        "max",         "logical_and",  "logical_or",
    "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "min_location", "max_location"};

constexpr const TypeFacts& facts(Type type) { return type_facts[static_cast<std::size_t>(type)]; }
constexpr std::size_t type_bytes(Type type) { return facts(type).bytes; }
constexpr std::string_view name(Type type) { return facts(type).name; }
constexpr std::string_view name(Operator op) {
  return operator_names[static_cast<std::size_t>(op)];
}

// Returns whether a sum of two numbers has the same bits in either order and in every
// implementation, apart from the bits of a NaN. False for the half-precision types, which
// implementations round at different times.
constexpr bool has_commutative_sum(Type type) {
  const TypeKind kind = facts(type).kind;
  const bool is_half = type == Type::float16 || type == Type::bfloat16;
  return (kind == TypeKind::floating && !is_half) || kind == TypeKind::complex;
}

// Returns whether results are independent of the order of reduction and of the implementation. True
// for integers. Sums of floats depend on the order, and even their minimum and maximum depend on
// the treatment of NaN and signed zeros.
constexpr bool is_exact(Type type) {
  switch (type) {
    case Type::int8:
    case Type::int16:
    case Type::int32:
    case Type::int64:
    case Type::uint8:
    case Type::uint16:
    case Type::uint32:
    case Type::uint64:
    case Type::boolean:
    case Type::short_int:
    case Type::int_int:
    case Type::long_int:
      return true;
    case Type::float16:
    case Type::bfloat16:
    case Type::float32:
    case Type::float64:
    case Type::long_double:
    case Type::complex32:
    case Type::complex64:
    case Type::complex_long_double:
    case Type::float32_int:
    case Type::float64_int:
    case Type::long_double_int:
      return false;
  }
  return false;
}

// Returns whether the operator is defined for the type. As in MPI, bitwise operators require
// integers, logical operators integers or booleans, min and max real numbers, and min and max with
// location value-index pairs.
constexpr bool is_defined(Type type, Operator op) {
  const TypeKind kind = facts(type).kind;
  switch (op) {
    case Operator::sum:
    case Operator::product:
      return kind == TypeKind::integer || kind == TypeKind::floating || kind == TypeKind::complex;
    case Operator::min:
    case Operator::max:
      return kind == TypeKind::integer || kind == TypeKind::floating;
    case Operator::logical_and:
    case Operator::logical_or:
    case Operator::logical_xor:
      return kind == TypeKind::integer || kind == TypeKind::boolean;
    case Operator::bitwise_and:
    case Operator::bitwise_or:
    case Operator::bitwise_xor:
      return kind == TypeKind::integer;
    case Operator::min_location:
    case Operator::max_location:
      return kind == TypeKind::located;
  }
  return false;
}

}  // namespace huddle::memory

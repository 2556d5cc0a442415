// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Maps MPI's named datatypes and operators to the types and operators of huddle's reductions, for
// every ABI. The size of a type comes from the MPI (MPI_Type_size).
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

#include "runtime/memory/types.h"

namespace huddle::mpi {

// The classes of datatypes for which the MPI standard defines the predefined operators. Real and
// complex numbers of C and of Fortran are separate because their 16-byte formats differ.
enum class ElementKind {
  signed_integer,
  unsigned_integer,
  fortran_integer,
  address,  // MPI_AINT, MPI_OFFSET, MPI_COUNT
  byte,
  real,
  fortran_real,
  complex,
  fortran_complex,
  c_bool,
  logical,    // of Fortran, represented by an integer
  c_char,     // MPI_CHAR: a printable character in the standard, an integer to MPIs
  character,  // other text, and packed data
  pair,       // a value and its location
};

struct Element {
  std::string_view name;
  ElementKind kind;
  std::optional<memory::Type> pair = std::nullopt;  // huddle's type of this pair, if it has one
};

inline constexpr std::array<Element, 72> elements = {{
    {"MPI_SIGNED_CHAR", ElementKind::signed_integer},
    {"MPI_SHORT", ElementKind::signed_integer},
    {"MPI_INT", ElementKind::signed_integer},
    {"MPI_LONG", ElementKind::signed_integer},
    {"MPI_LONG_LONG", ElementKind::signed_integer},
    {"MPI_INT8_T", ElementKind::signed_integer},
    {"MPI_INT16_T", ElementKind::signed_integer},
    {"MPI_INT32_T", ElementKind::signed_integer},
    {"MPI_INT64_T", ElementKind::signed_integer},
    {"MPI_UNSIGNED_CHAR", ElementKind::unsigned_integer},
    {"MPI_UNSIGNED_SHORT", ElementKind::unsigned_integer},
    {"MPI_UNSIGNED", ElementKind::unsigned_integer},
    {"MPI_UNSIGNED_LONG", ElementKind::unsigned_integer},
    {"MPI_UNSIGNED_LONG_LONG", ElementKind::unsigned_integer},
    {"MPI_UINT8_T", ElementKind::unsigned_integer},
    {"MPI_UINT16_T", ElementKind::unsigned_integer},
    {"MPI_UINT32_T", ElementKind::unsigned_integer},
    {"MPI_UINT64_T", ElementKind::unsigned_integer},
    {"MPI_INTEGER", ElementKind::fortran_integer},
    {"MPI_INTEGER1", ElementKind::fortran_integer},
    {"MPI_INTEGER2", ElementKind::fortran_integer},
    {"MPI_INTEGER4", ElementKind::fortran_integer},
    {"MPI_INTEGER8", ElementKind::fortran_integer},
    {"MPI_INTEGER16", ElementKind::fortran_integer},
    {"MPI_AINT", ElementKind::address},
    {"MPI_OFFSET", ElementKind::address},
    {"MPI_COUNT", ElementKind::address},
    {"MPI_BYTE", ElementKind::byte},
    {"MPI_FLOAT", ElementKind::real},
    {"MPI_DOUBLE", ElementKind::real},
    {"MPI_LONG_DOUBLE", ElementKind::real},
    {"MPI_REAL", ElementKind::fortran_real},
    {"MPI_DOUBLE_PRECISION", ElementKind::fortran_real},
    {"MPI_REAL2", ElementKind::fortran_real},
    {"MPI_REAL4", ElementKind::fortran_real},
    {"MPI_REAL8", ElementKind::fortran_real},
    {"MPI_REAL16", ElementKind::fortran_real},
    {"MPI_C_FLOAT_COMPLEX", ElementKind::complex},
    {"MPI_C_DOUBLE_COMPLEX", ElementKind::complex},
    {"MPI_C_LONG_DOUBLE_COMPLEX", ElementKind::complex},
    {"MPI_CXX_FLOAT_COMPLEX", ElementKind::complex},
    {"MPI_CXX_DOUBLE_COMPLEX", ElementKind::complex},
    {"MPI_CXX_LONG_DOUBLE_COMPLEX", ElementKind::complex},
    {"MPI_COMPLEX", ElementKind::fortran_complex},
    {"MPI_DOUBLE_COMPLEX", ElementKind::fortran_complex},
    {"MPI_COMPLEX4", ElementKind::fortran_complex},
    {"MPI_COMPLEX8", ElementKind::fortran_complex},
    {"MPI_COMPLEX16", ElementKind::fortran_complex},
    {"MPI_COMPLEX32", ElementKind::fortran_complex},
    {"MPI_C_BOOL", ElementKind::c_bool},
    {"MPI_CXX_BOOL", ElementKind::c_bool},
    {"MPI_LOGICAL", ElementKind::logical},
    {"MPI_LOGICAL1", ElementKind::logical},
    {"MPI_LOGICAL2", ElementKind::logical},
    {"MPI_LOGICAL4", ElementKind::logical},
    {"MPI_LOGICAL8", ElementKind::logical},
    {"MPI_LOGICAL16", ElementKind::logical},
    {"MPI_CHAR", ElementKind::c_char},
    {"MPI_WCHAR", ElementKind::character},
    {"MPI_CHARACTER", ElementKind::character},
    {"MPI_PACKED", ElementKind::character},
    {"MPI_FLOAT_INT", ElementKind::pair, memory::Type::float32_int},
    {"MPI_DOUBLE_INT", ElementKind::pair, memory::Type::float64_int},
    {"MPI_LONG_INT", ElementKind::pair, memory::Type::long_int},
    {"MPI_2INT", ElementKind::pair, memory::Type::int_int},
    {"MPI_SHORT_INT", ElementKind::pair, memory::Type::short_int},
    {"MPI_LONG_DOUBLE_INT", ElementKind::pair, memory::Type::long_double_int},
    {"MPI_2INTEGER", ElementKind::pair, memory::Type::int_int},
    // huddle has no pairs whose location is a floating-point number.
    {"MPI_2REAL", ElementKind::pair},
    {"MPI_2DOUBLE_PRECISION", ElementKind::pair},
    {"MPI_2COMPLEX", ElementKind::pair},
    {"MPI_2DOUBLE_COMPLEX", ElementKind::pair},
}};

struct NamedOperator {
  std::string_view name;
  memory::Operator op;
};

// Without MPI_REPLACE and MPI_NO_OP, which are for one-sided communication only.
inline constexpr std::array<NamedOperator, 12> reductions = {{
    {"MPI_SUM", memory::Operator::sum},
    {"MPI_PROD", memory::Operator::product},
    {"MPI_MIN", memory::Operator::min},
    {"MPI_MAX", memory::Operator::max},
    {"MPI_LAND", memory::Operator::logical_and},
    {"MPI_LOR", memory::Operator::logical_or},
    {"MPI_LXOR", memory::Operator::logical_xor},
    {"MPI_BAND", memory::Operator::bitwise_and},
    {"MPI_BOR", memory::Operator::bitwise_or},
    {"MPI_BXOR", memory::Operator::bitwise_xor},
    {"MPI_MINLOC", memory::Operator::min_location},
    {"MPI_MAXLOC", memory::Operator::max_location},
}};

constexpr const Element* find_element(std::string_view name) {
  for (const Element& element : elements) {
    if (element.name == name) return &element;
  }
  return nullptr;
}

constexpr std::optional<memory::Operator> find_operator(std::string_view name) {
  for (const NamedOperator& reduction : reductions) {
    if (reduction.name == name) return reduction.op;
  }
  return std::nullopt;
}

constexpr std::optional<memory::Type> integer_of(bool is_signed, std::size_t bytes) {
  switch (bytes) {
    case 1:
      return is_signed ? memory::Type::int8 : memory::Type::uint8;
    case 2:
      return is_signed ? memory::Type::int16 : memory::Type::uint16;
    case 4:
      return is_signed ? memory::Type::int32 : memory::Type::uint32;
    case 8:
      return is_signed ? memory::Type::int64 : memory::Type::uint64;
  }
  return std::nullopt;
}

// Fortran's 16-byte reals have quadruple precision; long double has it on some machines only.
inline constexpr bool long_double_is_quadruple = std::numeric_limits<long double>::digits == 113;

constexpr std::optional<memory::Type> real_of(bool is_fortran, std::size_t bytes) {
  if (bytes == 2 && is_fortran) return memory::Type::float16;
  if (bytes == sizeof(float)) return memory::Type::float32;
  if (bytes == sizeof(double)) return memory::Type::float64;
  if (is_fortran && !long_double_is_quadruple) return std::nullopt;
  if (bytes == sizeof(long double)) return memory::Type::long_double;
  return std::nullopt;
}

constexpr std::optional<memory::Type> complex_of(bool is_fortran, std::size_t bytes) {
  if (bytes == 2 * sizeof(float)) return memory::Type::complex32;
  if (bytes == 2 * sizeof(double)) return memory::Type::complex64;
  if (is_fortran && !long_double_is_quadruple) return std::nullopt;
  if (bytes == 2 * sizeof(long double)) return memory::Type::complex_long_double;
  return std::nullopt;
}

// Returns the type as which huddle reduces such elements, or nullopt. For pairs, see below.
constexpr std::optional<memory::Type> element_type(ElementKind kind, std::size_t bytes) {
  switch (kind) {
    case ElementKind::signed_integer:
    case ElementKind::fortran_integer:
    case ElementKind::address:
    case ElementKind::logical:
    case ElementKind::c_char:
      return integer_of(true, bytes);
    case ElementKind::unsigned_integer:
    case ElementKind::byte:
      return integer_of(false, bytes);
    case ElementKind::real:
    case ElementKind::fortran_real:
      return real_of(kind == ElementKind::fortran_real, bytes);
    case ElementKind::complex:
    case ElementKind::fortran_complex:
      return complex_of(kind == ElementKind::fortran_complex, bytes);
    case ElementKind::c_bool:
      return bytes == 1 ? std::optional(memory::Type::boolean) : std::nullopt;
    case ElementKind::character:
    case ElementKind::pair:
      return std::nullopt;
  }
  return std::nullopt;
}

// The same for any element. `bytes` is the result of MPI_Type_size, which excludes the padding of
// pairs. Returns nullopt for a pair that is larger than huddle's type, because its integers are
// wider.
constexpr std::optional<memory::Type> element_type(const Element& element, std::size_t bytes) {
  if (element.kind != ElementKind::pair) return element_type(element.kind, bytes);
  if (element.pair && bytes > memory::type_bytes(*element.pair)) return std::nullopt;
  return element.pair;
}

constexpr bool is_integer(ElementKind kind) {
  return kind == ElementKind::signed_integer || kind == ElementKind::unsigned_integer ||
         kind == ElementKind::fortran_integer || kind == ElementKind::address;
}

constexpr bool is_real_number(ElementKind kind) {
  return kind == ElementKind::real || kind == ElementKind::fortran_real;
}

constexpr bool is_logical(memory::Operator op) {
  return op == memory::Operator::logical_and || op == memory::Operator::logical_or ||
         op == memory::Operator::logical_xor;
}

// Returns whether the MPI standard defines this operator for these elements. For other
// combinations, the MPI must be tested.
constexpr bool allows(ElementKind kind, memory::Operator op) {
  const bool is_real = is_real_number(kind);
  const bool is_complex = kind == ElementKind::complex || kind == ElementKind::fortran_complex;
  switch (op) {
    case memory::Operator::min:
    case memory::Operator::max:
      return is_integer(kind) || is_real;
    case memory::Operator::sum:
    case memory::Operator::product:
      return is_integer(kind) || is_real || is_complex;
    case memory::Operator::logical_and:
    case memory::Operator::logical_or:
    case memory::Operator::logical_xor:
      return kind == ElementKind::signed_integer || kind == ElementKind::unsigned_integer ||
             kind == ElementKind::c_bool || kind == ElementKind::logical;
    case memory::Operator::bitwise_and:
    case memory::Operator::bitwise_or:
    case memory::Operator::bitwise_xor:
      return is_integer(kind) || kind == ElementKind::byte;
    case memory::Operator::min_location:
    case memory::Operator::max_location:
      return kind == ElementKind::pair;
  }
  return false;
}

// Returns whether an MPI that supports this non-standard combination computes the same as huddle's
// kernels. The minimum of chars depends on their signedness, which is not specified.
constexpr bool is_alike_beyond(ElementKind kind, memory::Operator op) {
  const bool is_order = op == memory::Operator::min || op == memory::Operator::max ||
                        op == memory::Operator::min_location ||
                        op == memory::Operator::max_location;
  return (kind == ElementKind::c_char && !is_order) ||
         (kind == ElementKind::address && is_logical(op));
}

// Returns whether huddle never handles this combination, because in some MPIs the collective
// returns a different result than MPI_Reduce_local (Intel MPI 2021) or aborts the program (MPICH
// 4.0).
constexpr bool is_never_handled(ElementKind kind, memory::Operator op) {
  return is_real_number(kind) && is_logical(op);
}

}  // namespace huddle::mpi

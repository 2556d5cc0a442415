// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reductions with vector instructions, compiled for each instruction set of the build, and the
// table of these instruction sets.
#include "runtime/memory/reduction.h"

// These targets are omitted because each adds build time: SSSE3, which only CPUs from before 2008
// need; the later AVX-512 extensions, which add nothing that is used here; and SVE, which could not
// be tested yet (such CPUs use NEON).
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
// Highway disables its portable target for gcc older than 12.3, which miscompiles the upper half of
// 16-bit products. Such products are not used here, and the tests run this target.
#define HWY_BROKEN_EMU128 0

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/memory/reduce_vector.cc"
// clang-format off: before highway.h
#include <hwy/foreach_target.h>
// clang-format on
#include <hwy/highway.h>

#include <array>

#include "runtime/memory/reduce_float16-inl.h"
#include "runtime/memory/reduce_loop-inl.h"
#include "runtime/memory/reduce_operations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace huddle::memory {
namespace HWY_NAMESPACE {

template <std::size_t element_bytes, class Operation>
void combine(void* to, const void* left, const void* right, std::size_t count, void*) {
  combine_bytes<Operation>(static_cast<std::uint8_t*>(to), static_cast<const std::uint8_t*>(left),
                           static_cast<const std::uint8_t*>(right), count * element_bytes);
}

// A constant, but clang-tidy considers the function that it points to mutable data.
template <typename Lane, class OnLanes>
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
inline constexpr CombineFunction* on_lanes = combine<sizeof(Lane), Lanes<Lane, OnLanes>>;

template <typename Lane>
CombineFunction* find_logical(Operator op) {
  if (op == Operator::logical_and) return on_lanes<Lane, Logical<And>>;
  if (op == Operator::logical_or) return on_lanes<Lane, Logical<Or>>;
  if (op == Operator::logical_xor) return on_lanes<Lane, Logical<Xor>>;
  return nullptr;
}

template <typename Integer>
CombineFunction* find_integer(Operator op) {
  using Bits = std::make_unsigned_t<Integer>;
  using Product = std::conditional_t<sizeof(Integer) == 1, MultiplyBytes, Multiply>;
  if (op == Operator::sum) return on_lanes<Bits, Add>;
  if (op == Operator::product) return on_lanes<Bits, Product>;
  if (op == Operator::min) return on_lanes<Integer, Lower>;
  if (op == Operator::max) return on_lanes<Integer, Higher>;
  if (op == Operator::bitwise_and) return on_lanes<Bits, And>;
  if (op == Operator::bitwise_or) return on_lanes<Bits, Or>;
  if (op == Operator::bitwise_xor) return on_lanes<Bits, Xor>;
  return find_logical<Bits>(op);
}

// OnBytes: the byte operation that computes sums and products of these numbers.
template <template <class> class OnBytes, typename Bits, Bits infinity_bits>
CombineFunction* find_floating(Operator op) {
  if (op == Operator::sum) return combine<sizeof(Bits), OnBytes<Rounded<Add>>>;
  if (op == Operator::product) return combine<sizeof(Bits), OnBytes<Rounded<Multiply>>>;
  if (op == Operator::min) return on_lanes<Bits, LowerFloat<infinity_bits>>;
  if (op == Operator::max) return on_lanes<Bits, HigherFloat<infinity_bits>>;
  return nullptr;
}

template <class OnLanes>
using Float32Lanes = Lanes<float, OnLanes>;
template <class OnLanes>
using Float64Lanes = Lanes<double, OnLanes>;

template <typename Part>
CombineFunction* find_complex(Operator op) {
  if (op == Operator::sum) return combine<2 * sizeof(Part), Lanes<Part, Rounded<Add>>>;
  if (op == Operator::product) return combine<2 * sizeof(Part), Lanes<Part, MultiplyComplex>>;
  return nullptr;
}

CombineFunction* find(Type type, Operator op) {
  switch (type) {
    case Type::int8:
      return find_integer<std::int8_t>(op);
    case Type::int16:
      return find_integer<std::int16_t>(op);
    case Type::int32:
      return find_integer<std::int32_t>(op);
    case Type::int64:
      return find_integer<std::int64_t>(op);
    case Type::uint8:
      return find_integer<std::uint8_t>(op);
    case Type::uint16:
      return find_integer<std::uint16_t>(op);
    case Type::uint32:
      return find_integer<std::uint32_t>(op);
    case Type::uint64:
      return find_integer<std::uint64_t>(op);
    case Type::boolean:
      return find_logical<std::uint8_t>(op);
    case Type::float16:
      return find_floating<Float16Lanes, std::int16_t, 0x7C00>(op);
    case Type::bfloat16:
      return find_floating<Bfloat16Lanes, std::int16_t, 0x7F80>(op);
    case Type::float32:
      return find_floating<Float32Lanes, std::int32_t, 0x7F800000>(op);
    case Type::float64:
      return find_floating<Float64Lanes, std::int64_t, 0x7FF0000000000000>(op);
    case Type::complex32:
      return find_complex<float>(op);
    case Type::complex64:
      return find_complex<double>(op);
    case Type::long_double:
    case Type::complex_long_double:
    case Type::float32_int:
    case Type::float64_int:
    case Type::short_int:
    case Type::int_int:
    case Type::long_int:
    case Type::long_double_int:
      return nullptr;
  }
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace huddle::memory
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace huddle::memory {
namespace {

bool always() { return true; }

#if HWY_TARGETS & HWY_AVX2
// Checks three of the features that Highway's AVX2 target needs; CPUs with these have the others.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
}
#endif
#if HWY_TARGETS & HWY_AVX3
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512cd") != 0;
}
#endif
#if HWY_TARGETS & HWY_SSE4
bool has_sse4() { return __builtin_cpu_supports("sse4.2") != 0; }
#endif

// Replaces Highway's dispatch table, which keeps its selection in a shared library, for the whole
// process.
constexpr VectorTarget targets[] = {
#if HWY_TARGETS & HWY_AVX3
    {"AVX-512", has_avx512, N_AVX3::find},
#endif
#if HWY_TARGETS & HWY_AVX2
    {"AVX2", has_avx2, N_AVX2::find},
#endif
#if HWY_TARGETS & HWY_SSE4
    {"SSE4", has_sse4, N_SSE4::find},
#endif
#if HWY_TARGETS & HWY_NEON
    {"NEON", always, N_NEON::find},
#endif
#if HWY_TARGETS & HWY_EMU128
    {"portable", always, N_EMU128::find},
#endif
};

}  // namespace

std::span<const VectorTarget> vector_targets() { return targets; }

}  // namespace huddle::memory

#endif  // HWY_ONCE

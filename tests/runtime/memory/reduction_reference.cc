// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "reduction_reference.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

namespace huddle::memory {
namespace {

template <typename T>
T load(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// Zeroes the padding of the long double.
void store_long_double(std::byte* to, long double value) {
  std::memset(to, 0, sizeof value);
  if (std::isnan(value)) value = std::numeric_limits<long double>::quiet_NaN();
  std::memcpy(to, &value, std::numeric_limits<long double>::digits == 64 ? 10 : sizeof value);
}

template <typename T>
T one_nan(T value) {
  return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
}

template <typename T>
T integer(Operator op, T a, T b) {
  using Wide = std::uint64_t;  // wraps; truncation then gives the right result
  switch (op) {
    case Operator::sum:
      return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    case Operator::product:
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    case Operator::min:
      return a < b ? a : b;
    case Operator::max:
      return a > b ? a : b;
    case Operator::logical_and:
      return a != 0 && b != 0;
    case Operator::logical_or:
      return a != 0 || b != 0;
    case Operator::logical_xor:
      return (a != 0) != (b != 0);
    case Operator::bitwise_and:
      return static_cast<T>(a & b);
    case Operator::bitwise_or:
      return static_cast<T>(a | b);
    case Operator::bitwise_xor:
      return static_cast<T>(a ^ b);
    case Operator::min_location:
    case Operator::max_location:
      break;
  }
  return 0;
}

// Returns whether the result is the left operand. Two NaNs are ordered by their bits, so that the
// result does not depend on their order.
template <typename Bits, typename Value>
bool takes_left(Operator op, Bits left_bits, Bits right_bits, Value left, Value right) {
  const bool lowest = op == Operator::min;
  if (std::isnan(left) != std::isnan(right)) return std::isnan(left);
  if (!std::isnan(left)) {
    if (left != right) return (left < right) == lowest;
    return std::signbit(left) == lowest;
  }
  if (std::signbit(left) != std::signbit(right)) return std::signbit(left) != lowest;
  return (left_bits < right_bits) == (std::signbit(left) != lowest);
}

template <typename Bits, typename Value>
void floating(Operator op, std::byte* to, const std::byte* left, const std::byte* right) {
  const auto a = load<Value>(left);
  const auto b = load<Value>(right);
  if (op == Operator::sum) {
    store(to, one_nan(static_cast<Value>(a + b)));
  } else if (op == Operator::product) {
    store(to, one_nan(static_cast<Value>(a * b)));
  } else {
    const bool from_left = takes_left(op, load<Bits>(left), load<Bits>(right), a, b);
    std::memcpy(to, from_left ? left : right, sizeof a);
  }
}

void small_floating(const SmallFloat& format, Operator op, std::byte* to, const std::byte* left,
                    const std::byte* right) {
  const auto a = load<std::uint16_t>(left);
  const auto b = load<std::uint16_t>(right);
  const auto x = static_cast<float>(format.value(a));
  const auto y = static_cast<float>(format.value(b));
  if (op == Operator::sum) {
    store(to, format.nearest(x + y));
  } else if (op == Operator::product) {
    store(to, format.nearest(x * y));
  } else {
    // The conversion to float loses the sign of a NaN.
    const auto signed_like = [](float value, std::uint16_t bits) {
      return std::copysign(value, (bits & 0x8000U) != 0 ? -1.0F : 1.0F);
    };
    store(to, takes_left(op, a, b, signed_like(x, a), signed_like(y, b)) ? a : b);
  }
}

void long_double(Operator op, std::byte* to, const std::byte* left, const std::byte* right) {
  const auto a = load<long double>(left);
  const auto b = load<long double>(right);
  if (op == Operator::sum) {
    store_long_double(to, a + b);
  } else if (op == Operator::product) {
    store_long_double(to, a * b);
  } else {
    store_long_double(to, takes_left(op, 0, 0, a, b) ? a : b);
  }
}

template <typename Part>
void complex(Operator op, std::byte* to, const std::byte* left, const std::byte* right) {
  const auto a = load<Part>(left);
  const auto b = load<Part>(left + sizeof(Part));
  const auto c = load<Part>(right);
  const auto d = load<Part>(right + sizeof(Part));
  const bool is_sum = op == Operator::sum;
  const Part real = is_sum ? a + c : a * c - b * d;
  const Part imaginary = is_sum ? b + d : a * d + b * c;
  if constexpr (std::is_same_v<Part, long double>) {
    store_long_double(to, real);
    store_long_double(to + sizeof(Part), imaginary);
  } else {
    store(to, one_nan(real));
    store(to + sizeof(Part), one_nan(imaginary));
  }
}

template <typename Value>
void located(Operator op, std::byte* to, const std::byte* left, const std::byte* right) {
  const auto a = load<Value>(left);
  const auto b = load<Value>(right);
  const int i = load<int>(left + offsetof(Located<Value>, index));
  const int j = load<int>(right + offsetof(Located<Value>, index));
  const bool a_is_nan = a != a;
  const bool b_is_nan = b != b;
  bool from_left = i <= j;
  if (a_is_nan != b_is_nan) {
    from_left = a_is_nan;
  } else if (!a_is_nan && a != b) {
    from_left = op == Operator::min_location ? a < b : a > b;
  }
  std::memcpy(to, from_left ? left : right, sizeof(Located<Value>));
}

template <typename T>
void integers(Operator op, std::byte* to, const std::byte* left, const std::byte* right) {
  store(to, integer(op, load<T>(left), load<T>(right)));
}

}  // namespace

double SmallFloat::value(std::uint16_t bits) const {
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int exponent = (bits & 0x7FFF) >> fraction_bits;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int last = (1 << exponent_bits) - 1;
  if (exponent == last && fraction != 0) return std::numeric_limits<double>::quiet_NaN();
  if (exponent == last) return sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias() - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias() - fraction_bits);
}

std::uint16_t SmallFloat::nearest(double value) const {
  const int endless = ((1 << exponent_bits) - 1) << fraction_bits;
  if (std::isnan(value)) return static_cast<std::uint16_t>(endless | 1 << (fraction_bits - 1));
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (value == 0) return static_cast<std::uint16_t>(sign);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | endless);
  const int smallest = 1 - bias();
  const int exponent = std::max(std::ilogb(value), smallest);
  // In units of the last place. nearbyint rounds ties to even.
  const auto units =
      static_cast<int>(std::nearbyint(std::ldexp(std::fabs(value), fraction_bits - exponent)));
  // A carry out of the fraction increments the exponent, possibly to infinity.
  const int bits = units + ((exponent - smallest) << fraction_bits);
  return static_cast<std::uint16_t>(sign | std::min(bits, endless));
}

void combine_reference(Type type, Operator op, std::byte* to, const std::byte* left,
                       const std::byte* right) {
  switch (type) {
    case Type::int8:
      return integers<std::int8_t>(op, to, left, right);
    case Type::int16:
      return integers<std::int16_t>(op, to, left, right);
    case Type::int32:
      return integers<std::int32_t>(op, to, left, right);
    case Type::int64:
      return integers<std::int64_t>(op, to, left, right);
    case Type::uint8:
    case Type::boolean:
      return integers<std::uint8_t>(op, to, left, right);
    case Type::uint16:
      return integers<std::uint16_t>(op, to, left, right);
    case Type::uint32:
      return integers<std::uint32_t>(op, to, left, right);
    case Type::uint64:
      return integers<std::uint64_t>(op, to, left, right);
    case Type::float16:
      return small_floating(half_format, op, to, left, right);
    case Type::bfloat16:
      return small_floating(bfloat_format, op, to, left, right);
    case Type::float32:
      return floating<std::uint32_t, float>(op, to, left, right);
    case Type::float64:
      return floating<std::uint64_t, double>(op, to, left, right);
    case Type::long_double:
      return long_double(op, to, left, right);
    case Type::complex32:
      return complex<float>(op, to, left, right);
    case Type::complex64:
      return complex<double>(op, to, left, right);
    case Type::complex_long_double:
      return complex<long double>(op, to, left, right);
    case Type::float32_int:
      return located<float>(op, to, left, right);
    case Type::float64_int:
      return located<double>(op, to, left, right);
    case Type::short_int:
      return located<short>(op, to, left, right);
    case Type::int_int:
      return located<int>(op, to, left, right);
    case Type::long_int:
      return located<long>(op, to, left, right);
    case Type::long_double_int:
      return located<long double>(op, to, left, right);
  }
}

}  // namespace huddle::memory

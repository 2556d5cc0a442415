// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "reduction_reference.h"

namespace huddle::memory {
namespace {

// Returns a special element in one of three cases and a small one in another, so that values tie.
template <typename T, std::size_t n>
T drawn(std::mt19937_64& random, const std::array<T, n>& special, T small, T any) {
  switch (random() % 3) {
    case 0:
      return special[random() % n];
    case 1:
      return small;
    default:
      return any;
  }
}

template <typename T>
T draw_integer(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  constexpr std::array<T, 4> special = {0, Limits::min(), Limits::max(), static_cast<T>(-1)};
  return drawn(random, special, static_cast<T>(random() % 4), static_cast<T>(random()));
}

// Returns bits instead of a value: a signaling NaN may become quiet in a register.
template <typename Bits, typename T>
Bits draw_float(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  const auto bits = [](T value) { return std::bit_cast<Bits>(value); };
  const std::array<Bits, 12> special = {
      bits(T{0}),
      bits(-T{0}),
      bits(Limits::infinity()),
      bits(-Limits::infinity()),
      bits(Limits::quiet_NaN()),
      static_cast<Bits>(bits(Limits::infinity()) + 1),  // signaling, lowest
      static_cast<Bits>(~Bits{0}),                      // negative, highest
      bits(Limits::max()),
      bits(Limits::lowest()),
      bits(Limits::min()),
      bits(Limits::denorm_min()),
      bits(-Limits::denorm_min()),
  };
  const auto small = bits(static_cast<T>(random() % 9) / 4 - 1);
  return drawn(random, special, small, static_cast<Bits>(random()));
}

std::uint16_t draw_small_float(const SmallFloat& format, std::mt19937_64& random) {
  const auto infinity = format.nearest(std::numeric_limits<double>::infinity());
  const std::array<std::uint16_t, 10> special = {0,
                                                 0x8000,
                                                 infinity,
                                                 static_cast<std::uint16_t>(infinity | 0x8000),
                                                 static_cast<std::uint16_t>(infinity + 1),
                                                 static_cast<std::uint16_t>(infinity - 1),
                                                 0x7FFF,
                                                 0xFFFF,
                                                 1,
                                                 0x8001};
  const auto small = format.nearest(static_cast<double>(random() % 9) / 4 - 1);
  return drawn(random, special, small, static_cast<std::uint16_t>(random()));
}

// Not from random bits, because some x87 bit patterns are invalid.
long double draw_long_double(std::mt19937_64& random) {
  using Limits = std::numeric_limits<long double>;
  constexpr std::array<long double, 8> special = {
      0.0L,          -0.0L,         Limits::infinity(),  -Limits::infinity(), Limits::quiet_NaN(),
      Limits::max(), Limits::min(), Limits::denorm_min()};
  const auto fraction = static_cast<long double>(static_cast<std::int64_t>(random()));
  const auto exponent = static_cast<int>(random() % 200) - 100;
  return drawn(random, special, static_cast<long double>(random() % 9) / 4 - 1,
               std::ldexp(fraction, exponent));
}

template <typename T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <typename Value, typename Draw>
void put_located(std::byte* to, std::mt19937_64& random, const Draw& draw) {
  put(to, draw(random));
  put(to + offsetof(Located<Value>, index), static_cast<int>(random() % 5) - 2);
}

void put_element(Type type, std::byte* to, std::mt19937_64& random) {
  const auto draw_float32 = draw_float<std::uint32_t, float>;
  const auto draw_float64 = draw_float<std::uint64_t, double>;
  switch (type) {
    case Type::int8:
    case Type::uint8:
    case Type::boolean:
      return put(to, draw_integer<std::int8_t>(random));
    case Type::int16:
    case Type::uint16:
      return put(to, draw_integer<std::int16_t>(random));
    case Type::int32:
    case Type::uint32:
      return put(to, draw_integer<std::int32_t>(random));
    case Type::int64:
    case Type::uint64:
      return put(to, draw_integer<std::int64_t>(random));
    case Type::float16:
      return put(to, draw_small_float(half_format, random));
    case Type::bfloat16:
      return put(to, draw_small_float(bfloat_format, random));
    case Type::float32:
      return put(to, draw_float32(random));
    case Type::float64:
      return put(to, draw_float64(random));
    case Type::long_double:
      return put(to, draw_long_double(random));
    case Type::complex32:
      put(to, draw_float32(random));
      return put(to + sizeof(float), draw_float32(random));
    case Type::complex64:
      put(to, draw_float64(random));
      return put(to + sizeof(double), draw_float64(random));
    case Type::complex_long_double:
      put(to, draw_long_double(random));
      return put(to + sizeof(long double), draw_long_double(random));
    case Type::float32_int:
      return put_located<float>(to, random, draw_float32);
    case Type::float64_int:
      return put_located<double>(to, random, draw_float64);
    case Type::short_int:
      return put_located<short>(to, random, draw_integer<short>);
    case Type::int_int:
      return put_located<int>(to, random, draw_integer<int>);
    case Type::long_int:
      return put_located<long>(to, random, draw_integer<long>);
    case Type::long_double_int:
      return put_located<long double>(to, random, draw_long_double);
  }
}

}  // namespace

std::vector<std::byte> random_elements(Type type, std::size_t count, std::mt19937_64& random) {
  const std::size_t step = type_bytes(type);
  std::vector<std::byte> elements(count * step);
  for (std::size_t i = 0; i < count; ++i) put_element(type, elements.data() + i * step, random);
  return elements;
}

}  // namespace huddle::memory

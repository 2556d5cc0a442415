// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reductions of types without vector instructions, one element at a time.
#include "runtime/memory/reduction.h"

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace huddle::memory {
namespace {

// The arrays may be unaligned, so values are accessed by memcpy.
template <typename Value>
Value load(const std::byte* from) {
  Value value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

// x87 numbers have ten value bytes; the others are padding. Other formats have no padding.
constexpr std::size_t long_double_value_bytes = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double);

// Stores equal values as equal bytes: always the same NaN, and zeros in the padding.
void store(std::byte* to, long double value) {
  if (std::isnan(value)) value = std::numeric_limits<long double>::quiet_NaN();
  std::memset(to, 0, sizeof value);
  std::memcpy(to, &value, long_double_value_bytes);
}

template <typename Value>
bool is_nan(Value value) {
  return value != value;  // false for integers; NOLINT(misc-redundant-expression): true for NaN
}

bool is_less(long double left, long double right) {
  return left < right || (left == right && std::signbit(left) && !std::signbit(right));
}

// The element operations. They read both operands before they write, because `to` may be one of
// them.
struct Sum {
  static constexpr std::size_t bytes = sizeof(long double);
  static void apply(std::byte* to, const std::byte* left, const std::byte* right) {
    store(to, load<long double>(left) + load<long double>(right));
  }
};

struct Product {
  static constexpr std::size_t bytes = sizeof(long double);
  static void apply(std::byte* to, const std::byte* left, const std::byte* right) {
    store(to, load<long double>(left) * load<long double>(right));
  }
};

template <bool lowest>
struct Extreme {
  static constexpr std::size_t bytes = sizeof(long double);
  static void apply(std::byte* to, const std::byte* left, const std::byte* right) {
    const auto a = load<long double>(left);
    const auto b = load<long double>(right);
    const bool takes_left = is_nan(a) || (!is_nan(b) && is_less(a, b) == lowest);
    store(to, takes_left ? a : b);
  }
};

struct ComplexProduct {
  static constexpr std::size_t bytes = 2 * sizeof(long double);
  static void apply(std::byte* to, const std::byte* left, const std::byte* right) {
    const auto a = load<long double>(left);
    const auto b = load<long double>(left + sizeof(long double));
    const auto c = load<long double>(right);
    const auto d = load<long double>(right + sizeof(long double));
    store(to, a * c - b * d);
    store(to + sizeof(long double), a * d + b * c);
  }
};

// Copies the whole element, including the padding between value and index.
template <typename Value, bool lowest>
struct WithLocation {
  static constexpr std::size_t bytes = sizeof(Located<Value>);
  static void apply(std::byte* to, const std::byte* left, const std::byte* right) {
    std::memmove(to, takes_left(left, right) ? left : right, bytes);
  }

 private:
  static bool takes_left(const std::byte* left, const std::byte* right) {
    const auto a = load<Value>(left);
    const auto b = load<Value>(right);
    if (is_nan(a) != is_nan(b)) return is_nan(a);
    if (a < b || b < a) return (a < b) == lowest;
    constexpr std::size_t index_at = offsetof(Located<Value>, index);
    return load<int>(left + index_at) <= load<int>(right + index_at);
  }
};

template <typename Element>
void combine(void* to, const void* left, const void* right, std::size_t count, void*) {
  auto* target = static_cast<std::byte*>(to);
  const auto* a = static_cast<const std::byte*>(left);
  const auto* b = static_cast<const std::byte*>(right);
  for (std::size_t at = 0; at < count * Element::bytes; at += Element::bytes) {
    Element::apply(target + at, a + at, b + at);
  }
}

// Adds the real and imaginary parts separately.
void combine_complex_sum(void* to, const void* left, const void* right, std::size_t count,
                         void* context) {
  combine<Sum>(to, left, right, 2 * count, context);
}

CombineFunction* find_long_double(Operator op) {
  if (op == Operator::sum) return combine<Sum>;
  if (op == Operator::product) return combine<Product>;
  if (op == Operator::min) return combine<Extreme<true>>;
  if (op == Operator::max) return combine<Extreme<false>>;
  return nullptr;
}

CombineFunction* find_complex(Operator op) {
  if (op == Operator::sum) return combine_complex_sum;
  if (op == Operator::product) return combine<ComplexProduct>;
  return nullptr;
}

template <typename Value>
CombineFunction* find_location(Operator op) {
  if (op == Operator::min_location) return combine<WithLocation<Value, true>>;
  if (op == Operator::max_location) return combine<WithLocation<Value, false>>;
  return nullptr;
}

}  // namespace

CombineFunction* find_scalar(Type type, Operator op) {
  if (type == Type::long_double) return find_long_double(op);
  if (type == Type::complex_long_double) return find_complex(op);
  if (type == Type::float32_int) return find_location<float>(op);
  if (type == Type::float64_int) return find_location<double>(op);
  if (type == Type::short_int) return find_location<short>(op);
  if (type == Type::int_int) return find_location<int>(op);
  if (type == Type::long_int) return find_location<long>(op);
  if (type == Type::long_double_int) return find_location<long double>(op);
  return nullptr;
}

}  // namespace huddle::memory

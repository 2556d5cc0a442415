// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "mpi/verification.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>
#include <vector>

#include "common/error.h"
#include "mpi/stats.h"

namespace huddle::mpi {
namespace {

// Each factor of a complex product adds the rounding errors of four products and two sums.
constexpr double roundings_of_a_complex_product = 4;

// Calls `use` with a null pointer to the C++ type.
template <class Use>
auto with_type(memory::Type type, Use use) {
  switch (type) {
    case memory::Type::float32:
      return use(static_cast<const float*>(nullptr));
    case memory::Type::float64:
      return use(static_cast<const double*>(nullptr));
    case memory::Type::long_double:
      return use(static_cast<const long double*>(nullptr));
    case memory::Type::complex32:
      return use(static_cast<const std::complex<float>*>(nullptr));
    case memory::Type::complex64:
      return use(static_cast<const std::complex<double>*>(nullptr));
    case memory::Type::complex_long_double:
      return use(static_cast<const std::complex<long double>*>(nullptr));
    case memory::Type::int8:
    case memory::Type::int16:
    case memory::Type::int32:
    case memory::Type::int64:
    case memory::Type::uint8:
    case memory::Type::uint16:
    case memory::Type::uint32:
    case memory::Type::uint64:
    case memory::Type::boolean:
    case memory::Type::float16:
    case memory::Type::bfloat16:
    case memory::Type::float32_int:
    case memory::Type::float64_int:
    case memory::Type::short_int:
    case memory::Type::int_int:
    case memory::Type::long_int:
    case memory::Type::long_double_int:
      break;
  }
  throw FailureError(fmt::format("{} can only be compared bit by bit", memory::name(type)));
}

template <class Number>
std::string text_of(Number number) {
  if constexpr (std::is_floating_point_v<Number>) {
    return fmt::format("{}", number);
  } else {
    return fmt::format("({}, {})", number.real(), number.imag());
  }
}

template <class Number>
bool is_finite(Number number) {
  return std::isfinite(std::abs(number));
}

template <class Number>
bool is_no_number(Number number) {
  return std::isnan(std::abs(number));
}

template <class Number>
double epsilon_of(const Number*) {
  if constexpr (std::is_floating_point_v<Number>) {
    return static_cast<double>(std::numeric_limits<Number>::epsilon());
  } else {
    return roundings_of_a_complex_product *
           static_cast<double>(std::numeric_limits<typename Number::value_type>::epsilon());
  }
}

template <class Number>
double largest_of(const Number*) {
  constexpr long double largest_scale = std::numeric_limits<double>::max();
  if constexpr (std::is_floating_point_v<Number>) {
    constexpr long double largest = std::numeric_limits<Number>::max();
    return static_cast<double>(std::min(largest, largest_scale));
  } else {
    constexpr long double largest = std::numeric_limits<typename Number::value_type>::max();
    return static_cast<double>(std::min(largest, largest_scale));
  }
}

template <class Number>
std::optional<Difference> rounded(const Number* ours, const Number* theirs, std::size_t count,
                                  int ranks, const std::vector<double>& scale) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_finite(ours[i]) && !is_finite(theirs[i])) continue;
    const double allowed = ranks * epsilon_of(ours) * scale[i];
    // Another order may overflow.
    if (scale[i] > largest_of(ours) || std::isinf(allowed) ||
        std::abs(ours[i] - theirs[i]) <= allowed)
      continue;
    return Difference{i, fmt::format("{} and {}; the permitted difference is {}", text_of(ours[i]),
                                     text_of(theirs[i]), allowed)};
  }
  return std::nullopt;
}

template <class Number>
std::optional<Difference> valued(const Number* ours, const Number* theirs, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const bool are_no_numbers = is_no_number(ours[i]) || is_no_number(theirs[i]);
    if (ours[i] == theirs[i] || are_no_numbers) continue;
    return Difference{i, fmt::format("{} and {}", text_of(ours[i]), text_of(theirs[i]))};
  }
  return std::nullopt;
}

}  // namespace

std::vector<double> magnitudes(memory::Type type, const void* numbers, std::size_t count) {
  return with_type(type, [&](auto* tag) {
    const auto* from = static_cast<decltype(tag)>(numbers);
    std::vector<double> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<double>(std::abs(from[i]));
    return all;
  });
}

std::optional<Difference> compare_rounded(memory::Type type, const void* ours, const void* theirs,
                                          std::size_t count, int ranks,
                                          const std::vector<double>& scale) {
  return with_type(type, [&](auto* tag) {
    using Pointer = decltype(tag);
    return rounded(static_cast<Pointer>(ours), static_cast<Pointer>(theirs), count, ranks, scale);
  });
}

std::optional<Difference> compare_values(memory::Type type, const void* ours, const void* theirs,
                                         std::size_t count) {
  return with_type(type, [&](auto* tag) {
    using Pointer = decltype(tag);
    return valued(static_cast<Pointer>(ours), static_cast<Pointer>(theirs), count);
  });
}

bool Verification::note_difference() {
  count(compared_);
  return differences_.fetch_add(1, std::memory_order_relaxed) == 0;
}

std::string Verification::report(const huddle_stub_interface& stub) const {
  std::array<std::size_t, fallback_reason_count> fallbacks{};
  std::transform(fallbacks_.begin(), fallbacks_.end(), fallbacks.begin(),
                 [](const Counter& calls) { return calls.load(std::memory_order_relaxed); });
  std::vector<Reason> reasons = reasons_of(fallbacks, stub);
  for (std::size_t i = 0; i < incomparable_count; ++i) {
    const std::size_t calls = incomparable_[i].load(std::memory_order_relaxed);
    if (calls > 0) reasons.push_back({calls, reason_text(static_cast<Incomparable>(i))});
  }
  sort_by_calls(reasons);
  return fmt::format("{} calls compared, {} with different results, {} not compared{}",
                     grouped(compared_.load(std::memory_order_relaxed)),
                     grouped(differences_.load(std::memory_order_relaxed)),
                     grouped(calls_of(reasons)), listed(reasons));
}

}  // namespace huddle::mpi

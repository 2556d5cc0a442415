// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Half precision on vectors: computes in float and rounds to the nearest half, ties to even.
// Included once per instruction set.
#if defined(HUDDLE_MEMORY_REDUCE_FLOAT16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HUDDLE_MEMORY_REDUCE_FLOAT16_INL_H_
#undef HUDDLE_MEMORY_REDUCE_FLOAT16_INL_H_
#else
#define HUDDLE_MEMORY_REDUCE_FLOAT16_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace huddle::memory {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON

// These targets have conversion instructions.
template <class DFloat, class VHalf>
HWY_INLINE hn::Vec<DFloat> floats_of(DFloat floats, VHalf bits) {
  return hn::PromoteTo(floats, hn::BitCast(hn::Rebind<hwy::float16_t, DFloat>(), bits));
}

template <class DHalf, class VFloat>
HWY_INLINE hn::Vec<DHalf> halves_of(DHalf bits, VFloat values) {
  return hn::BitCast(bits, hn::DemoteTo(hn::Rebind<hwy::float16_t, DHalf>(), values));
}

#else

// On other targets Highway's conversion rounds down and does not handle infinity, so the conversion
// is done here. A half is a float with an exponent bias of 15 instead of 127 and a fraction that is
// 13 bits shorter. Subnormal halves are converted by a float addition that aligns their last bit.
inline constexpr std::uint32_t exponent_step = 1U << 23;
inline constexpr std::uint32_t rebias = (127 - 15) * exponent_step;

template <class DFloat, class VHalf>
HWY_INLINE hn::Vec<DFloat> floats_of(DFloat floats, VHalf bits) {
  const hn::RebindToUnsigned<DFloat> d;
  const auto wide = hn::PromoteTo(d, bits);
  const auto sign = hn::ShiftLeft<16>(hn::And(wide, hn::Set(d, 0x8000)));
  const auto shifted = hn::ShiftLeft<13>(hn::And(wide, hn::Set(d, 0x7FFF)));
  const auto exponent = hn::And(shifted, hn::Set(d, 0x1FU * exponent_step));
  const auto normal = hn::Add(shifted, hn::Set(d, rebias));
  const auto endless = hn::Add(normal, hn::Set(d, rebias));  // infinity, NaN
  const auto smallest = hn::Set(d, rebias + exponent_step);  // 2^-14
  const auto subnormal = hn::BitCast(
      d, hn::Sub(hn::BitCast(floats, hn::Add(shifted, smallest)), hn::BitCast(floats, smallest)));
  const auto is_endless = hn::Eq(exponent, hn::Set(d, 0x1FU * exponent_step));
  const auto is_subnormal = hn::Eq(exponent, hn::Zero(d));
  const auto finite = hn::IfThenElse(is_subnormal, subnormal, normal);
  return hn::BitCast(floats, hn::Or(sign, hn::IfThenElse(is_endless, endless, finite)));
}

// Requires: each NaN is the one that with_one_nan produces.
template <class DHalf, class VFloat>
HWY_INLINE hn::Vec<DHalf> halves_of(DHalf bits, VFloat values) {
  const hn::DFromV<VFloat> floats;
  const hn::RebindToSigned<decltype(floats)> d;
  const hn::RebindToUnsigned<decltype(floats)> wrapping;
  const auto all = hn::BitCast(d, values);
  const auto magnitude = hn::And(all, hn::Set(d, 0x7FFFFFFF));
  const auto sign =
      hn::And(hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(wrapping, all))), hn::Set(d, 0x8000));
  const auto is_odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d, 1));
  const auto to_round = hn::Sub(magnitude, hn::Set(d, static_cast<std::int32_t>(rebias) - 0xFFF));
  const auto normal = hn::ShiftRight<13>(hn::Add(to_round, is_odd));
  const auto half_one = hn::Set(d, 126 * static_cast<std::int32_t>(exponent_step));
  const auto sum = hn::Add(hn::BitCast(floats, magnitude), hn::BitCast(floats, half_one));
  const auto subnormal = hn::Sub(hn::BitCast(d, sum), half_one);
  const auto is_subnormal = hn::Lt(magnitude, hn::Set(d, 0x38800000));  // below 2^-14
  const auto is_endless = hn::Gt(magnitude, hn::Set(d, 0x477FFFFF));    // from 2^16
  const auto is_nan = hn::Gt(magnitude, hn::Set(d, 0x7F800000));
  const auto endless = hn::IfThenElse(is_nan, hn::Set(d, 0x7E00), hn::Set(d, 0x7C00));
  const auto finite = hn::IfThenElse(is_subnormal, subnormal, normal);
  return hn::DemoteTo(bits, hn::Or(sign, hn::IfThenElse(is_endless, endless, finite)));
}

#endif

template <class OnFloats>
struct Float16Lanes {
  template <class D, class V>
  static V apply(D bytes, V left, V right) {
    const hn::Repartition<std::uint16_t, D> d;
    const hn::Half<decltype(d)> half;
    const auto a = hn::BitCast(d, left);
    const auto b = hn::BitCast(d, right);
    const auto lower = combined(half, hn::LowerHalf(half, a), hn::LowerHalf(half, b));
    const auto upper = combined(half, hn::UpperHalf(half, a), hn::UpperHalf(half, b));
    return hn::BitCast(bytes, hn::Combine(d, upper, lower));
  }

 private:
  template <class D, class V>
  static V combined(D half, V left, V right) {
    const hn::Rebind<float, D> floats;
    return halves_of(half, OnFloats::on(floats, floats_of(floats, left), floats_of(floats, right)));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace huddle::memory
HWY_AFTER_NAMESPACE();

#endif

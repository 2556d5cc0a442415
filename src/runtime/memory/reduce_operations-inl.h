// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The operations on vectors. Lane operations (`on`) take a tag and two vectors of its lanes; byte
// operations (`apply`), which reduce_loop-inl.h calls, take vectors of bytes. Included once per
// instruction set.
#if defined(HUDDLE_MEMORY_REDUCE_OPERATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HUDDLE_MEMORY_REDUCE_OPERATIONS_INL_H_
#undef HUDDLE_MEMORY_REDUCE_OPERATIONS_INL_H_
#else
#define HUDDLE_MEMORY_REDUCE_OPERATIONS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace huddle::memory {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// ---- Integer lanes. Unsigned lanes wrap by definition, with the same bits as signed ones.

struct Add {
  template <class D, class V>
  static V on(D, V left, V right) {
    return hn::Add(left, right);
  }
};

struct Multiply {
  template <class D, class V>
  static V on(D, V left, V right) {
    return hn::Mul(left, right);
  }
};

struct Lower {
  template <class D, class V>
  static V on(D, V left, V right) {
    return hn::Min(left, right);
  }
};

struct Higher {
  template <class D, class V>
  static V on(D, V left, V right) {
    return hn::Max(left, right);
  }
};

struct And {
  template <class D, class V>
  static V on(D, V left, V right) {
    return hn::And(left, right);
  }
};

struct Or {
  template <class D, class V>
  static V on(D, V left, V right) {
    return hn::Or(left, right);
  }
};

struct Xor {
  template <class D, class V>
  static V on(D, V left, V right) {
    return hn::Xor(left, right);
  }
};

// A logical operation: 0 is false, any other value is true, and results are 0 or 1.
template <class Bitwise>
struct Logical {
  template <class D, class V>
  static V on(D d, V left, V right) {
    return Bitwise::on(d, truth(d, left), truth(d, right));
  }

 private:
  template <class D, class V>
  static V truth(D d, V value) {
    return hn::IfThenZeroElse(hn::Eq(value, hn::Zero(d)), hn::Set(d, 1));
  }
};

// There is no multiplication of 8-bit lanes: multiplies both bytes of each 16-bit lane in 16 bits.
struct MultiplyBytes {
  template <class D, class V>
  static V on(D d, V left, V right) {
    const hn::Repartition<std::uint16_t, D> wide;
    const auto a = hn::BitCast(wide, left);
    const auto b = hn::BitCast(wide, right);
    const auto lower = hn::And(hn::Mul(a, b), hn::Set(wide, 0xFF));
    const auto upper = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(a), hn::ShiftRight<8>(b)));
    return hn::BitCast(d, hn::Or(lower, upper));
  }
};

// ---- float and double lanes.

// Replaces every NaN with the same one, because the bits of a NaN result depend on the CPU and on
// the order of the operands.
template <class D, class V>
V with_one_nan(D d, V value) {
  const auto nan = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::quiet_NaN());
  return hn::IfThenElse(hn::Eq(value, value), value, nan);
}

template <class Exact>
struct Rounded {
  template <class D, class V>
  static V on(D d, V left, V right) {
    return with_one_nan(d, Exact::on(d, left, right));
  }
};

struct MultiplyComplex {
  template <class D, class V>
  static V on(D d, V left, V right) {
    const V by_real = hn::Mul(hn::DupEven(left), right);                       // ac, ad
    const V by_imaginary = hn::Mul(hn::DupOdd(left), hn::Reverse2(d, right));  // bd, bc
    const V real = hn::Sub(by_real, by_imaginary);
    const V imaginary = hn::Add(by_real, by_imaginary);
    return with_one_nan(d, hn::OddEven(imaginary, real));
  }
};

// ---- Minimum and maximum of floating-point numbers, on signed integer lanes with the same bits.

// Returns an integer key with the order that reduction.h documents: numbers by value, -0 below +0,
// and every NaN beyond all numbers, on the side that the comparison selects. The NaNs of one sign
// are there already; adding `shift` wraps those of the other sign around.
template <class D, class V>
V key_of(D d, V bits, hn::TFromD<D> shift) {
  using Lane = hn::TFromD<D>;
  const auto magnitude = hn::Set(d, std::numeric_limits<Lane>::max());
  const V ascending = hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), magnitude));
  const hn::RebindToUnsigned<D> wrapping;
  return hn::BitCast(
      d, hn::Add(hn::BitCast(wrapping, ascending), hn::BitCast(wrapping, hn::Set(d, shift))));
}

template <auto infinity_bits>
struct LowerFloat {
  template <class D, class V>
  static V on(D d, V left, V right) {
    using Lane = hn::TFromD<D>;
    constexpr auto shift = static_cast<Lane>(std::numeric_limits<Lane>::max() - infinity_bits);
    const auto is_left = hn::Lt(key_of(d, left, shift), key_of(d, right, shift));
    return hn::IfThenElse(is_left, left, right);
  }
};

template <auto infinity_bits>
struct HigherFloat {
  template <class D, class V>
  static V on(D d, V left, V right) {
    using Lane = hn::TFromD<D>;
    constexpr auto shift = static_cast<Lane>(infinity_bits - std::numeric_limits<Lane>::max());
    const auto is_left = hn::Gt(key_of(d, left, shift), key_of(d, right, shift));
    return hn::IfThenElse(is_left, left, right);
  }
};

// ---- Bytes.

// Applies a lane operation to vectors of bytes, interpreted as lanes of type Lane.
template <typename Lane, class OnLanes>
struct Lanes {
  template <class D, class V>
  static V apply(D bytes, V left, V right) {
    const hn::Repartition<Lane, D> d;
    return hn::BitCast(bytes, OnLanes::on(d, hn::BitCast(d, left), hn::BitCast(d, right)));
  }
};

// A bfloat16 is the upper half of a float: extends the elements with zeros, and rounds the results.
// Computes even and odd elements separately, so that no element has to move to another lane.
template <class OnFloats>
struct Bfloat16Lanes {
  template <class D, class V>
  static V apply(D bytes, V left, V right) {
    const hn::Repartition<std::uint32_t, D> words;
    const auto a = hn::BitCast(words, left);
    const auto b = hn::BitCast(words, right);
    const auto upper = hn::Set(words, 0xFFFF0000U);
    const auto even = rounded(words, hn::ShiftLeft<16>(a), hn::ShiftLeft<16>(b));
    const auto odd = rounded(words, hn::And(a, upper), hn::And(b, upper));
    return hn::BitCast(bytes, hn::Or(hn::ShiftRight<16>(even), hn::And(odd, upper)));
  }

 private:
  template <class D, class V>
  static V rounded(D words, V left, V right) {
    const hn::Repartition<float, D> floats;
    const auto exact = hn::BitCast(
        words, OnFloats::on(floats, hn::BitCast(floats, left), hn::BitCast(floats, right)));
    const auto is_odd = hn::And(hn::ShiftRight<16>(exact), hn::Set(words, 1));
    return hn::Add(exact, hn::Add(is_odd, hn::Set(words, 0x7FFF)));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace huddle::memory
HWY_AFTER_NAMESPACE();

#endif

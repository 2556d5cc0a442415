// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The values of flags: a sequence number that wraps around, the conditions that ranks wait for, and
// the stamp that identifies a call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace huddle::context {

using Sequence = std::uint32_t;

// Initial value of every flag. It is close to the end of the range, so that tests exercise the
// wrap-around, which a program would otherwise reach only after hours.
inline constexpr Sequence first_sequence = static_cast<Sequence>(-64);

// Returns whether `seen` is `wanted` or later. Requires: they are less than 2^31 apart.
constexpr bool reached(Sequence seen, Sequence wanted) {
  return static_cast<std::int32_t>(seen - wanted) >= 0;
}

// The condition that a rank waits for.
struct Until {
  enum class Kind : std::uint8_t { reached, equal };
  Kind kind = Kind::reached;
  Sequence value = 0;

  constexpr bool holds(Sequence seen) const {
    return kind == Kind::reached ? reached(seen, value) : seen == value;
  }
};
constexpr Until until_reached(Sequence value) { return {Until::Kind::reached, value}; }
constexpr Until until_equal(Sequence value) { return {Until::Kind::equal, value}; }

// Identifies the collective call that a rank is in. A stamp has 4 bytes and is stored next to a
// flag: the low bits of the call's number, and a hash of the arguments that must be equal on all
// ranks. If a rank reads a stamp other than its own, the ranks made different calls or passed
// different arguments.
class CallStamp {
 public:
  // The stamp of a rank that is not in a call.
  constexpr CallStamp() = default;
  constexpr CallStamp(std::uint32_t number, std::uint64_t arguments)
      : bits_(number << hash_bits | hash_of(arguments)) {}
  static constexpr CallStamp from_bits(Sequence bits) {
    CallStamp stamp;
    stamp.bits_ = bits;
    return stamp;
  }

  constexpr Sequence bits() const { return bits_; }
  constexpr std::uint32_t number() const { return bits_ >> hash_bits; }
  constexpr bool operator==(const CallStamp&) const = default;
  // Requires: no rank is 2,048 or more calls ahead of another.
  constexpr bool is_of_later_call_than(CallStamp other) const {
    constexpr Sequence numbers = Sequence{1} << (32 - hash_bits);
    const Sequence ahead = (number() - other.number()) % numbers;
    return ahead != 0 && ahead < numbers / 2;
  }

 private:
  static constexpr int hash_bits = 20;
  // Multiplicative hash: small differences in the arguments affect all upper bits of the product.
  static constexpr Sequence hash_of(std::uint64_t arguments) {
    return static_cast<Sequence>(arguments * 0x9e3779b97f4a7c15U >> (64 - hash_bits));
  }

  Sequence bits_ = 0;
};

// Number of stamps that a rank keeps next to a flag that it sets many times per call, because a
// reader may still be in an earlier call.
inline constexpr std::size_t stamps_kept = 8;

}  // namespace huddle::context

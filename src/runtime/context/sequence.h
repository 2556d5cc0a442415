// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a flag holds: a number that counts up and begins again at 0 after the last one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace huddle::context {

using Sequence = std::uint32_t;

// Where fresh flags stand: so short of the end that every program of some length passes it, and an
// error there is found by every test and not by one user in a thousand.
inline constexpr Sequence first_sequence = static_cast<Sequence>(-64);

// Whether `seen` is `wanted` or later. Right as long as the two are less than 2^31 apart.
constexpr bool reached(Sequence seen, Sequence wanted) {
  return static_cast<std::int32_t>(seen - wanted) >= 0;
}

// What a rank waits for in a flag.
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

// Identifies the collective call that a rank is in, in the 4 bytes that travel with a flag: the low
// bits of the call's number, and a hash of the arguments that have to be equal on all ranks. A rank
// that reads another stamp than its own where a peer stores for the same call knows that the
// program made calls that differ.
class CallStamp {
 public:
  // The stamp of a rank that is in no call.
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
  // This is right as long as no rank is 2,048 calls ahead of another one.
  constexpr bool is_of_later_call_than(CallStamp other) const {
    constexpr Sequence numbers = Sequence{1} << (32 - hash_bits);
    const Sequence ahead = (number() - other.number()) % numbers;
    return ahead != 0 && ahead < numbers / 2;
  }

 private:
  static constexpr int hash_bits = 20;
  // The upper bits of a product with an odd number of no pattern: small differences in the
  // arguments reach all of them.
  static constexpr Sequence hash_of(std::uint64_t arguments) {
    return static_cast<Sequence>(arguments * 0x9e3779b97f4a7c15U >> (64 - hash_bits));
  }

  Sequence bits_ = 0;
};

// A rank keeps the stamps of its latest calls beside a flag that it raises many times per call: a
// reader may still be in an earlier one.
inline constexpr std::size_t stamps_kept = 8;

}  // namespace huddle::context

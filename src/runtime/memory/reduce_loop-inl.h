// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The loop that applies an operation on vectors of bytes to two operand arrays and a result array.
// Included once per instruction set (Highway's foreach_target).
#if defined(HUDDLE_MEMORY_REDUCE_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HUDDLE_MEMORY_REDUCE_LOOP_INL_H_
#undef HUDDLE_MEMORY_REDUCE_LOOP_INL_H_
#else
#define HUDDLE_MEMORY_REDUCE_LOOP_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace huddle::memory {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename Word>
Word read_word(const std::uint8_t* from) {
  Word word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

template <typename Word>
void write_word(std::uint8_t* to, std::uint64_t value) {
  const auto word = static_cast<Word>(value);
  std::memcpy(to, &word, sizeof word);
}

// Reads fewer than eight bytes into the low end of a word, in parts that may overlap, because a
// temporary buffer would cause store-forwarding stalls.
inline std::uint64_t read_few(const std::uint8_t* from, std::size_t n) {
  if (n >= 4) {
    const std::uint64_t high = read_word<std::uint32_t>(from + n - 4);
    return read_word<std::uint32_t>(from) | high << (8 * (n - 4));
  }
  if (n == 0) return 0;
  const auto byte = [from](std::size_t i) { return std::uint64_t{from[i]} << (8 * i); };
  return byte(0) | byte(n / 2) | byte(n - 1);
}

inline void write_few(std::uint8_t* to, std::uint64_t value, std::size_t n) {
  if (n >= 4) {
    write_word<std::uint32_t>(to, value);
    write_word<std::uint32_t>(to + n - 4, value >> (8 * (n - 4)));
    return;
  }
  for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

using Block = hn::Full128<std::uint8_t>;  // the smallest vector that is used
inline constexpr std::size_t block_bytes = 16;

// Loads fewer than 16 bytes; the rest of the vector is zero.
inline hn::Vec<Block> load_few(const std::uint8_t* from, std::size_t n) {
  const hn::Full128<std::uint64_t> words;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  if (n >= 8) {
    low = read_word<std::uint64_t>(from);
    high = read_few(from + 8, n - 8);
  } else {
    low = read_few(from, n);
  }
  return hn::BitCast(Block(),
                     hn::InterleaveLower(words, hn::Set(words, low), hn::Set(words, high)));
}

inline void store_few(hn::Vec<Block> vector, std::uint8_t* to, std::size_t n) {
  const auto words = hn::BitCast(hn::Full128<std::uint64_t>(), vector);
  const std::uint64_t low = hn::ExtractLane(words, 0);
  if (n < 8) {
    write_few(to, low, n);
    return;
  }
  write_word<std::uint64_t>(to, low);
  write_few(to + 8, hn::ExtractLane(words, 1), n - 8);
}

// Uses whole vectors only, so that the same instructions compute every element, wherever it lies.
// The last vector may overlap the one before it; it is computed before anything is written, because
// `to` may be `left` or `right`.
// Requires: `bytes` is at least the size of a vector.
template <class Operation, class D>
void combine_vectors(D d, std::uint8_t* to, const std::uint8_t* left, const std::uint8_t* right,
                     std::size_t bytes) {
  const std::size_t step = hn::Lanes(d);
  const auto at = [=](std::size_t i) HWY_ATTR {
    return Operation::apply(d, hn::LoadU(d, left + i), hn::LoadU(d, right + i));
  };
  const auto last = at(bytes - step);
  std::size_t i = 0;
  for (; i + 4 * step <= bytes; i += 4 * step) {
    hn::StoreU(at(i), d, to + i);
    hn::StoreU(at(i + step), d, to + i + step);
    hn::StoreU(at(i + 2 * step), d, to + i + 2 * step);
    hn::StoreU(at(i + 3 * step), d, to + i + 3 * step);
  }
  for (; i + step < bytes; i += step) hn::StoreU(at(i), d, to + i);
  hn::StoreU(last, d, to + bytes - step);
}

template <class Operation>
void combine_bytes(std::uint8_t* to, const std::uint8_t* left, const std::uint8_t* right,
                   std::size_t bytes) {
  const hn::ScalableTag<std::uint8_t> whole;
  if (bytes >= hn::Lanes(whole)) {
    combine_vectors<Operation>(whole, to, left, right, bytes);
  } else if (bytes >= block_bytes) {
    combine_vectors<Operation>(Block(), to, left, right, bytes);
  } else if (bytes > 0) {
    const auto result = Operation::apply(Block(), load_few(left, bytes), load_few(right, bytes));
    store_few(result, to, bytes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace huddle::memory
HWY_AFTER_NAMESPACE();

#endif

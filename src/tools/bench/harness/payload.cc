// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/harness/harness.h"

namespace huddle::bench {
namespace {

template <class T>
std::span<T> as(std::span<std::byte> data) {
  return {reinterpret_cast<T*>(data.data()), data.size() / sizeof(T)};
}
template <class T>
std::span<const T> as(std::span<const std::byte> data) {
  return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
}

std::uint64_t word(std::size_t place, std::uint32_t stamp) {
  return (static_cast<std::uint64_t>(stamp) << 32) ^ place;
}

double number(std::size_t place, std::uint32_t stamp) {
  constexpr std::size_t different =
      1009;  // small, so that the sums of thousands of ranks are exact
  return static_cast<double>((place + stamp) % different);
}

}  // namespace

std::uint32_t stamp_of(std::uint32_t stamp, int from, int to) {
  constexpr std::uint32_t senders_apart = 0x9E3779B1U;
  constexpr std::uint32_t receivers_apart = 0x85EBCA77U;
  return stamp + senders_apart * static_cast<std::uint32_t>(from) +
         receivers_apart * static_cast<std::uint32_t>(to);
}

void fill_words(std::span<std::byte> data, std::uint32_t stamp) {
  const auto words = as<std::uint64_t>(data);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = word(i, stamp);
}

bool has_words(std::span<const std::byte> data, std::uint32_t stamp) {
  const auto words = as<std::uint64_t>(data);
  std::uint64_t differences = 0;
  for (std::size_t i = 0; i < words.size(); ++i) differences |= words[i] ^ word(i, stamp);
  return differences == 0;
}

void fill_numbers(std::span<std::byte> data, std::uint32_t stamp, int rank) {
  const auto numbers = as<double>(data);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number(i, stamp) + rank;
}

bool has_sums(std::span<const std::byte> data, std::uint32_t stamp, int ranks, std::size_t first) {
  const auto sums = as<double>(data);
  const double of_ranks = 0.5 * ranks * (ranks - 1);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    wrong += sums[i] == ranks * number(first + i, stamp) + of_ranks ? 0 : 1;
  }
  return wrong == 0;
}

}  // namespace huddle::bench

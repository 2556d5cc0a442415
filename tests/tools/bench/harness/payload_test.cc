// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/harness/harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace huddle::bench {
namespace {

constexpr std::size_t words = 1000;

std::span<std::byte> bytes_of(std::vector<double>& numbers) {
  return std::as_writable_bytes(std::span(numbers));
}

TEST(Payload, FindsAnyWrongWord) {
  std::vector<double> numbers(words);
  const auto data = bytes_of(numbers);
  fill_words(data, 7);
  EXPECT_TRUE(has_words(data, 7));
  EXPECT_FALSE(has_words(data, 8)) << "data of another stretch";
  for (const std::size_t at : {std::size_t{0}, words / 2, words - 1}) {
    fill_words(data, 7);
    data[at * sizeof(double)] ^= std::byte{1};
    EXPECT_FALSE(has_words(data, 7)) << at;
  }
  fill_words(data, 7);
  std::swap(numbers[10], numbers[20]);
  EXPECT_FALSE(has_words(data, 7)) << "data in the wrong place";
}

TEST(Payload, StampsEachPairOfRanksAndEachStretchDifferently) {
  constexpr int ranks = 20;
  std::set<std::uint32_t> stamps;
  for (const std::uint32_t stretch : {7U, 8U}) {
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) stamps.insert(stamp_of(stretch, from, to));
    }
  }
  EXPECT_EQ(stamps.size(), 2U * ranks * ranks);
}

TEST(Payload, KnowsTheSumsOfAllRanks) {
  constexpr int ranks = 5;
  std::vector<double> sums(words, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<double> part(words);
    fill_numbers(bytes_of(part), 3, rank);
    std::transform(sums.begin(), sums.end(), part.begin(), sums.begin(), std::plus<>());
  }
  EXPECT_TRUE(has_sums(bytes_of(sums), 3, ranks, 0));
  EXPECT_FALSE(has_sums(bytes_of(sums), 4, ranks, 0));
  EXPECT_FALSE(has_sums(bytes_of(sums), 3, ranks - 1, 0));
  sums[words - 1] += 1;
  EXPECT_FALSE(has_sums(bytes_of(sums), 3, ranks, 0));
}

}  // namespace
}  // namespace huddle::bench

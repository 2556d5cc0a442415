// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/likeness.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace huddle::threads {
namespace {

// Equal values share the mean of their ranks.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double mean = static_cast<double>(first + end - 1) / 2;
    for (std::size_t i = first; i < end; ++i) rank[order[i]] = mean;
    first = end;
  }
  return rank;
}

void centre(std::vector<double>& values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) /
                      static_cast<double>(std::max<std::size_t>(values.size(), 1));
  for (double& value : values) value -= mean;
}

}  // namespace

std::vector<double> known_pairs(Pattern pattern, bool is_second_half) {
  SharingMatrix matrix;
  std::vector<int> threads(pattern_threads);
  std::iota(threads.begin(), threads.end(), 0);
  for (const std::vector<int>& users : regions_of(pattern, is_second_half)) {
    for (const int a : users) {
      for (const int b : users) {
        if (a < b) matrix.add(a, b);
      }
    }
  }
  return seen_pairs(matrix, threads);
}

std::vector<double> seen_pairs(const SharingMatrix& matrix, const std::vector<int>& threads) {
  std::vector<double> pairs;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) pairs.push_back(matrix.at(threads[i], threads[j]));
  }
  return pairs;
}

std::optional<double> cosine(const std::vector<double>& a, const std::vector<double>& b) {
  const double ab = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  const double aa = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
  const double bb = std::inner_product(b.begin(), b.end(), b.begin(), 0.0);
  if (aa == 0 || bb == 0) return std::nullopt;
  return ab / std::sqrt(aa * bb);
}

std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> rank_a = ranks(a);
  std::vector<double> rank_b = ranks(b);
  centre(rank_a);
  centre(rank_b);
  return cosine(rank_a, rank_b);
}

}  // namespace huddle::threads

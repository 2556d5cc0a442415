// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/patterns.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "placement/mapping/random.h"

namespace huddle::place {
namespace {

constexpr double message_bytes = 4096;

// The largest divisor of `size` that is not above its root of that degree.
int side_of(int size, int degree) {
  int side = 1;
  for (int candidate = 1; std::pow(candidate, degree) <= size + 0.5; ++candidate) {
    if (size % candidate == 0) side = candidate;
  }
  return side;
}

void add_grid(GraphBuilder& builder, int x, int y, int z) {
  const auto number = [&](int i, int j, int k) { return (k * y + j) * x + i; };
  for (int k = 0; k < z; ++k) {
    for (int j = 0; j < y; ++j) {
      for (int i = 0; i < x; ++i) {
        const int self = number(i, j, k);
        if (i + 1 < x) builder.add({self, number(i + 1, j, k), message_bytes});
        if (j + 1 < y) builder.add({self, number(i, j + 1, k), message_bytes});
        if (k + 1 < z) builder.add({self, number(i, j, k + 1), message_bytes});
      }
    }
  }
}

// Each newcomer talks to two of those who are there, rather to those who talk much already, with
// sizes that differ as widely as degrees do.
void add_power_law(GraphBuilder& builder, int size, Random& random) {
  std::vector<int> ends = {0, 1};
  builder.add({0, 1, message_bytes});
  for (int v = 2; v < size; ++v) {
    for (int edge = 0; edge < 2; ++edge) {
      const int other = ends[static_cast<std::size_t>(random.below(static_cast<int>(ends.size())))];
      if (other == v) continue;
      builder.add({v, other, std::round(message_bytes / (0.01 + random.fraction()))});
      ends.push_back(other);
      ends.push_back(v);
    }
  }
}

void add_random(GraphBuilder& builder, int size, Random& random) {
  constexpr int partners = 4;
  for (int v = 0; v < size; ++v) {
    for (int edge = 0; edge < partners; ++edge) {
      const int other = random.below(size);
      if (other != v) builder.add({v, other, 1 + std::floor(message_bytes * random.fraction())});
    }
  }
}

}  // namespace

Graph graph_of(Pattern pattern, int size, std::uint64_t seed) {
  GraphBuilder builder(size);
  Random random(seed);
  switch (pattern) {
    case Pattern::ring:
      for (int v = 0; v < size; ++v) builder.add({v, (v + 1) % size, message_bytes});
      break;
    case Pattern::halo_2d: {
      const int side = side_of(size, 2);
      add_grid(builder, size / side, side, 1);
      break;
    }
    case Pattern::halo_3d: {
      const int depth = side_of(size, 3);
      const int side = side_of(size / depth, 2);
      add_grid(builder, size / depth / side, side, depth);
      break;
    }
    case Pattern::butterfly:
      for (int bit = 1; bit < size; bit *= 2) {
        for (int v = 0; v < size; ++v) {
          if ((v ^ bit) < size) builder.add({v, v ^ bit, message_bytes});
        }
      }
      break;
    case Pattern::all_to_all:
      for (int v = 0; v < size; ++v) {
        for (int other = 0; other < size; ++other) builder.add({v, other, message_bytes});
      }
      break;
    case Pattern::pairs:
      for (int v = 0; v + 1 < size; v += 2) builder.add({v, v + 1, message_bytes});
      break;
    case Pattern::pipeline:
      for (int v = 0; v + 1 < size; ++v) builder.add({v, v + 1, message_bytes});
      break;
    case Pattern::power_law:
      add_power_law(builder, size, random);
      break;
    case Pattern::random:
      add_random(builder, size, random);
      break;
  }
  return builder.finish();
}

Graph shuffled(const Graph& graph, std::uint64_t seed) {
  std::vector<int> name(static_cast<std::size_t>(graph.size()));
  std::iota(name.begin(), name.end(), 0);
  Random random(seed);
  random.shuffle(name);
  return renumbered(graph, name);
}

}  // namespace huddle::place

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/mapping/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/text.h"
#include "placement/mapping/random.h"

namespace huddle::mapping {
namespace {

// Allocates the rows of all vertices.
void open_rows(Graph& graph, const std::vector<std::size_t>& degrees) {
  graph.offsets.assign(degrees.size() + 1, 0);
  std::partial_sum(degrees.begin(), degrees.end(), graph.offsets.begin() + 1);
  graph.neighbours.resize(graph.offsets.back());
  graph.bytes.resize(graph.offsets.back());
}

// Builds the graph from edges that occur once each, with from < to, in ascending order.
Graph from_edges(int vertices, const std::vector<Flow>& edges) {
  std::vector<std::size_t> degrees(static_cast<std::size_t>(vertices), 0);
  for (const Flow& edge : edges) {
    ++degrees[static_cast<std::size_t>(edge.from)];
    ++degrees[static_cast<std::size_t>(edge.to)];
  }
  Graph graph;
  open_rows(graph, degrees);
  std::vector<std::size_t> next(graph.offsets.begin(), graph.offsets.end() - 1);
  const auto put = [&graph, &next](int row, int neighbour, double bytes) {
    const std::size_t at = next[static_cast<std::size_t>(row)]++;
    graph.neighbours[at] = neighbour;
    graph.bytes[at] = bytes;
  };
  // Smaller neighbours first, then larger ones, so that the rows are ascending.
  for (const Flow& edge : edges) put(edge.to, edge.from, edge.bytes);
  for (const Flow& edge : edges) put(edge.from, edge.to, edge.bytes);
  return graph;
}

}  // namespace

double total_bytes(const Graph& graph) {
  return std::accumulate(graph.bytes.begin(), graph.bytes.end(), 0.0) / 2;
}

Graph renumbered(const Graph& graph, std::span<const int> new_name) {
  GraphBuilder builder(graph.size());
  for (int v = 0; v < graph.size(); ++v) {
    const Graph::Row row = graph.row(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row.neighbours[i] < v) continue;
      builder.add({new_name[static_cast<std::size_t>(v)],
                   new_name[static_cast<std::size_t>(row.neighbours[i])], row.bytes[i]});
    }
  }
  return builder.finish();
}

Graph contracted(const Graph& graph, std::span<const int> part_of, int parts) {
  // Sorts the vertices by part.
  std::vector<std::size_t> first(static_cast<std::size_t>(parts) + 1, 0);
  for (const int part : part_of) ++first[static_cast<std::size_t>(part) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<int> members(part_of.size());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (int v = 0; v < graph.size(); ++v) {
    members[next[static_cast<std::size_t>(part_of[static_cast<std::size_t>(v)])]++] = v;
  }
  Graph result;
  const auto count = static_cast<std::size_t>(parts);
  result.offsets.reserve(count + 1);
  result.neighbours.reserve(std::min(graph.neighbours.size(), count * (count - 1)));
  result.bytes.reserve(result.neighbours.capacity());
  // by part: the last row that contains it
  std::vector<int> row_of(static_cast<std::size_t>(parts), -1);
  std::vector<std::size_t> position(row_of.size(), 0);  // and its position in that row
  for (int part = 0; part < parts; ++part) {
    for (std::size_t m = first[static_cast<std::size_t>(part)];
         m < first[static_cast<std::size_t>(part) + 1]; ++m) {
      const Graph::Row row = graph.row(members[m]);
      for (std::size_t i = 0; i < row.size(); ++i) {
        const int other = part_of[static_cast<std::size_t>(row.neighbours[i])];
        if (other == part) continue;
        if (row_of[static_cast<std::size_t>(other)] != part) {
          row_of[static_cast<std::size_t>(other)] = part;
          position[static_cast<std::size_t>(other)] = result.neighbours.size();
          result.neighbours.push_back(other);
          result.bytes.push_back(row.bytes[i]);
        } else {
          result.bytes[position[static_cast<std::size_t>(other)]] += row.bytes[i];
        }
      }
    }
    result.offsets.push_back(result.neighbours.size());
  }
  return result;
}

Graph induced(const Graph& graph, std::span<const int> vertices, std::vector<int>& new_name) {
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    new_name[static_cast<std::size_t>(vertices[i])] = static_cast<int>(i);
  }
  Graph result;
  result.offsets.reserve(vertices.size() + 1);
  std::size_t most = 0;
  for (const int v : vertices) most += graph.row(v).size();
  most = std::min(most,
                  vertices.size() * (vertices.size() - std::min<std::size_t>(1, vertices.size())));
  result.neighbours.reserve(most);
  result.bytes.reserve(most);
  for (const int v : vertices) {
    const Graph::Row row = graph.row(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int name = new_name[static_cast<std::size_t>(row.neighbours[i])];
      if (name < 0) continue;
      result.neighbours.push_back(name);
      result.bytes.push_back(row.bytes[i]);
    }
    result.offsets.push_back(result.neighbours.size());
  }
  for (const int v : vertices) new_name[static_cast<std::size_t>(v)] = -1;
  return result;
}

std::size_t GraphBuilder::corner(int low, int high) const {
  const auto column = static_cast<std::size_t>(high);
  return column * (column - 1) / 2 + static_cast<std::size_t>(low);
}

void GraphBuilder::add_to_triangle(const Flow& flow) {
  const std::size_t at = corner(std::min(flow.from, flow.to), std::max(flow.from, flow.to));
  sums_[at] += flow.bytes;
  differences_[at] += static_cast<float>(flow.from < flow.to ? flow.bytes : -flow.bytes);
}

void GraphBuilder::become_dense() {
  const auto n = static_cast<std::size_t>(vertices_);
  sums_.assign(n * (n - 1) / 2, 0);
  differences_.assign(sums_.size(), 0);
  for (const Flow& flow : list_) add_to_triangle(flow);
  list_ = {};
}

void GraphBuilder::add(const Flow& flow) {
  if (flow.bytes == 0) return;
  if (flow.from == flow.to) {
    ++folded_.on_diagonal;
    return;
  }
  if (!sums_.empty()) {
    add_to_triangle(flow);
    return;
  }
  list_.push_back(flow);
  const auto n = static_cast<std::size_t>(vertices_);
  // Sorting a list needs memory for a few copies of it.
  constexpr std::size_t list_entry = 4 * sizeof(Flow);
  constexpr std::size_t triangle_entry = sizeof(double) + sizeof(float);
  if (list_.size() * list_entry > n * (n - 1) / 2 * triangle_entry) become_dense();
}

Graph GraphBuilder::from_list() {
  const auto low = [](const Flow& flow) { return std::min(flow.from, flow.to); };
  const auto high = [](const Flow& flow) { return std::max(flow.from, flow.to); };
  // Stable, so that the amounts are added in the order of the file.
  std::stable_sort(list_.begin(), list_.end(), [&](const Flow& a, const Flow& b) {
    return std::pair(low(a), high(a)) < std::pair(low(b), high(b));
  });
  std::vector<Flow> edges;
  for (std::size_t i = 0; i < list_.size();) {
    Flow edge{low(list_[i]), high(list_[i]), 0};
    double difference = 0;
    for (; i < list_.size() && low(list_[i]) == edge.from && high(list_[i]) == edge.to; ++i) {
      edge.bytes += list_[i].bytes;
      difference += list_[i].from == edge.from ? list_[i].bytes : -list_[i].bytes;
    }
    if (difference != 0) ++folded_.one_sided;
    edges.push_back(edge);
  }
  list_ = {};
  return from_edges(vertices_, edges);
}

Graph GraphBuilder::from_triangle() {
  folded_.one_sided += static_cast<std::size_t>(
      std::count_if(differences_.begin(), differences_.end(), [](float d) { return d != 0; }));
  differences_ = {};
  const auto n = static_cast<std::size_t>(vertices_);
  std::vector<std::size_t> degrees(n, 0);
  for (int high = 1; high < vertices_; ++high) {
    for (int low = 0; low < high; ++low) {
      if (sums_[corner(low, high)] == 0) continue;
      ++degrees[static_cast<std::size_t>(low)];
      ++degrees[static_cast<std::size_t>(high)];
    }
  }
  Graph graph;
  open_rows(graph, degrees);
  for (int row = 0; row < vertices_; ++row) {
    std::size_t at = graph.offsets[static_cast<std::size_t>(row)];
    for (int other = 0; other < vertices_; ++other) {
      if (other == row) continue;
      const double bytes = sums_[corner(std::min(row, other), std::max(row, other))];
      if (bytes == 0) continue;
      graph.neighbours[at] = other;
      graph.bytes[at++] = bytes;
    }
  }
  sums_ = {};
  return graph;
}

Graph GraphBuilder::finish() { return sums_.empty() ? from_list() : from_triangle(); }

namespace {

constexpr double message_bytes = 4096;

// Returns the largest divisor of `size` that is at most the root of `size` of that degree.
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

// Preferential attachment: each new vertex gets two edges, preferably to vertices with many edges.
// The amounts vary as widely as the degrees.
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

Pattern pattern_named(std::string_view word) {
  const auto found = std::find(pattern_words.begin(), pattern_words.end(), word);
  if (found == pattern_words.end()) {
    const std::vector<std::string> words(pattern_words.begin(), pattern_words.end());
    throw UsageError(fmt::format("unknown pattern '{}'{}; the patterns are {}", printable(word),
                                 did_you_mean(word, words), fmt::join(words, ", ")));
  }
  return static_cast<Pattern>(found - pattern_words.begin());
}

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

}  // namespace huddle::mapping

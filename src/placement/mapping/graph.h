// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who talks to whom and how much, as a sparse symmetric graph: what all methods of placement work
// on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace huddle::mapping {

// Compressed rows: the neighbours of vertex v are neighbours[offsets[v]] up to
// neighbours[offsets[v + 1]], in rising order. Every edge stands in both rows; no vertex is its own
// neighbour.
struct Graph {
  std::vector<std::size_t> offsets = {0};
  std::vector<int> neighbours;
  std::vector<double> bytes;  // parallel to neighbours: both directions together

  int size() const { return static_cast<int>(offsets.size()) - 1; }
  std::size_t edges() const { return neighbours.size() / 2; }

  struct Row {
    std::span<const int> neighbours;
    std::span<const double> bytes;
    std::size_t size() const { return neighbours.size(); }
  };
  Row row(int vertex) const {
    const std::size_t first = offsets[static_cast<std::size_t>(vertex)];
    const std::size_t count = offsets[static_cast<std::size_t>(vertex) + 1] - first;
    return {{neighbours.data() + first, count}, {bytes.data() + first, count}};
  }

  bool operator==(const Graph&) const = default;
};

// The sum over all pairs.
double total_bytes(const Graph& graph);

// The same graph whose vertex v is called new_name[v]. pre: new_name is a permutation.
Graph renumbered(const Graph& graph, std::span<const int> new_name);

// Vertices merged into so many parts, numbered from 0: what goes on inside a part is gone. Rows
// come out in no order.
Graph contracted(const Graph& graph, std::span<const int> part_of, int parts);

// These vertices and what they say to each other. `new_name` is scratch space of graph.size()
// entries, all -1 before and afterwards.
Graph induced(const Graph& graph, std::span<const int> vertices, std::vector<int>& new_name);

// One entry of a table of who sends to whom.
struct Flow {
  int from = 0;
  int to = 0;
  double bytes = 0;
};

// What had to be done to make a graph of it; worth a note where it is not 0.
struct Folded {
  std::size_t on_diagonal = 0;  // entries dropped: nobody needs a place near itself
  std::size_t one_sided = 0;    // pairs whose two directions differ

  bool operator==(const Folded&) const = default;
};

// Adds flows up, both directions of a pair together. Few are kept as a list; many as a triangle of
// all pairs, which is the smaller of the two then.
class GraphBuilder {
 public:
  explicit GraphBuilder(int vertices) : vertices_(vertices) {}

  // pre: 0 <= from, to < vertices; bytes is finite and not negative.
  void add(const Flow& flow);
  Graph finish();
  // pre: finish() has been called.
  const Folded& folded() const { return folded_; }

 private:
  std::size_t corner(int low, int high) const;  // of the triangle
  void add_to_triangle(const Flow& flow);
  void become_dense();
  Graph from_list();
  Graph from_triangle();

  int vertices_;
  std::vector<Flow> list_;
  std::vector<double> sums_;        // by corner, once dense; empty before
  std::vector<float> differences_;  // upper less lower, to see what is one-sided
  Folded folded_;
};

// How parallel programs talk, as graphs of any size: what methods are compared on.
enum class Pattern {
  ring,
  halo_2d,
  halo_3d,
  butterfly,
  all_to_all,
  pairs,
  pipeline,
  power_law,
  random
};
inline constexpr std::array<std::string_view, 9> pattern_names = {
    "ring",  "2-D halo", "3-D halo",  "butterfly", "all-to-all",
    "pairs", "pipeline", "power law", "random"};

// pre: size is 2 or more. Grids are as near to a square or cube as the size allows.
Graph graph_of(Pattern pattern, int size, std::uint64_t seed);

// The same with its vertices numbered at random.
Graph shuffled(const Graph& graph, std::uint64_t seed);

}  // namespace huddle::mapping

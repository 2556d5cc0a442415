// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The communication of ranks or threads as a sparse symmetric graph, the input of all methods.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace huddle::mapping {

// Compressed rows: the neighbours of vertex v are neighbours[offsets[v]] up to neighbours[offsets[v
// + 1]], exclusive, in ascending order. Every edge is in both rows; there are no loops.
struct Graph {
  std::vector<std::size_t> offsets = {0};
  std::vector<int> neighbours;
  std::vector<double> bytes;  // parallel to neighbours: sum of both directions

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

// Returns the sum of the bytes of all pairs.
double total_bytes(const Graph& graph);

// Returns the graph with vertex v renamed to new_name[v].
// Requires: new_name is a permutation.
Graph renumbered(const Graph& graph, std::span<const int> new_name);

// Returns the graph of the parts: vertex v is in part part_of[v], a number from 0 to parts - 1.
// Omits edges within a part. Rows are unordered.
Graph contracted(const Graph& graph, std::span<const int> part_of, int parts);

// Returns the subgraph of `vertices`. `new_name` is scratch space of graph.size() entries, which
// are -1 before and after the call.
Graph induced(const Graph& graph, std::span<const int> vertices, std::vector<int>& new_name);

// One entry of a communication matrix.
struct Flow {
  int from = 0;
  int to = 0;
  double bytes = 0;
};

// Information that the conversion to a graph loses. Matrices get a note if it is not 0.
struct Folded {
  // entries dropped: a rank's traffic with itself does not affect placement
  std::size_t on_diagonal = 0;
  std::size_t one_sided = 0;  // pairs whose two directions differ

  bool operator==(const Folded&) const = default;
};

// Sums up flows per pair, both directions together. Keeps few flows as a list and many as a
// triangular matrix, whichever is smaller.
class GraphBuilder {
 public:
  explicit GraphBuilder(int vertices) : vertices_(vertices) {}

  // Requires: 0 <= from, to < vertices; bytes is finite and not negative.
  void add(const Flow& flow);
  Graph finish();
  // Requires: finish() has been called.
  const Folded& folded() const { return folded_; }

 private:
  std::size_t corner(int low, int high) const;  // index in the triangular matrix
  void add_to_triangle(const Flow& flow);
  void become_dense();
  Graph from_list();
  Graph from_triangle();

  int vertices_;
  std::vector<Flow> list_;
  std::vector<double> sums_;  // by corner(); empty while the flows are a list
  // by corner(): bytes from low to high minus bytes from high to low
  std::vector<float> differences_;
  Folded folded_;
};

// Communication patterns of parallel programs, on which the methods are compared.
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
// The same as words of a command line.
inline constexpr std::array<std::string_view, 9> pattern_words = {
    "ring",  "halo2d",   "halo3d",    "butterfly", "alltoall",
    "pairs", "pipeline", "power-law", "random"};
// Returns the pattern of such a word. Throws UsageError.
Pattern pattern_named(std::string_view word);

// Returns the graph of a pattern. Grids are as close to a square or cube as the size allows.
// Requires: size >= 2.
Graph graph_of(Pattern pattern, int size, std::uint64_t seed);

// Returns the graph with its vertices numbered at random.
Graph shuffled(const Graph& graph, std::uint64_t seed);

}  // namespace huddle::mapping

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/matrix.h"

#include <algorithm>
#include <cmath>

#include "model/machine/cost.h"
#include "tools/picture/tree.h"

namespace huddle::picture {
namespace {

void collect_cores(const Node& node, std::vector<machine::CpuSet>& cores) {
  if (node.kind == NodeKind::core) cores.push_back(node.cpus);
  for (const Node& child : node.children) collect_cores(child, cores);
}

std::vector<Edge> edges_of(const LatencyMatrix& matrix, const machine::Topology& topology) {
  std::vector<std::size_t> combines;
  for (std::size_t i = 1; i < matrix.cores.size(); ++i) {
    combines.push_back(machine::joining_level(topology, matrix.cores[i - 1], matrix.cores[i]));
  }
  std::vector<Edge> edges;
  if (combines.empty()) return edges;
  const std::size_t nearest = *std::min_element(combines.begin(), combines.end());
  for (std::size_t i = 0; i < combines.size(); ++i) {
    if (combines[i] == nearest) continue;
    const double weight = std::pow(matrix.size(), static_cast<double>(combines[i] - nearest));
    edges.push_back({static_cast<int>(i) + 1, weight});
  }
  return edges;
}

double block_average(const LatencyMatrix& matrix, int top, int left, int size) {
  double sum = 0;
  int count = 0;
  for (int row = top; row < std::min(top + size, matrix.size()); ++row) {
    for (int column = left; column < std::min(left + size, matrix.size()); ++column) {
      if (row == column && size > 1) continue;
      sum += matrix.at(row, column);
      ++count;
    }
  }
  return count == 0 ? 0 : sum / count;
}

// Returns a step from `least` to 2 * `least`. A step keeps the edges whose rows are its multiples;
// the returned one is the smallest that keeps the greatest weight. A step of one keeps all edges.
int edge_keeping(const std::vector<Edge>& edges, int least) {
  if (least <= 1) return 1;
  const auto kept = [&edges](int step) {
    double sum = 0;
    for (const Edge& edge : edges) sum += edge.row % step == 0 ? edge.weight : 0;
    return sum;
  };
  int best = least;
  for (int step = least + 1; step <= 2 * least; ++step) {
    if (kept(step) > kept(best)) best = step;
  }
  return best;
}

}  // namespace

LatencyMatrix latency_matrix(const machine::Machine& machine) {
  std::vector<machine::CpuSet> cores;
  collect_cores(make_tree(machine.topology, {}), cores);
  LatencyMatrix matrix;
  for (const machine::CpuSet& core : cores) matrix.cores.push_back(core.first());
  const machine::CostModel model(machine);
  matrix.one_way_ns.reserve(cores.size() * cores.size());
  for (const machine::CpuSet& from : cores) {
    for (const machine::CpuSet& to : cores) {
      // Within a core: from its first to its last thread, or to itself if there is only one.
      const int target = &from == &to ? to.cpus().back() : to.first();
      matrix.one_way_ns.push_back(model.line_ns(from.first(), target));
    }
  }
  matrix.edges = edges_of(matrix, machine.topology);
  return matrix;
}

Blocks in_blocks(const LatencyMatrix& matrix, int cores_a_cell) {
  Blocks blocks;
  blocks.cores_a_cell = cores_a_cell;
  for (int top = 0; top < matrix.size(); top += cores_a_cell) {
    blocks.first.push_back(matrix.cores[static_cast<std::size_t>(top)]);
    for (int left = 0; left < matrix.size(); left += cores_a_cell) {
      blocks.ns.push_back(block_average(matrix, top, left, cores_a_cell));
    }
  }
  for (const Edge& edge : matrix.edges) {
    if (edge.row % cores_a_cell == 0) {
      blocks.edges.push_back({edge.row / cores_a_cell, edge.weight});
    }
  }
  return blocks;
}

bool shows_threads(const Blocks& blocks) {
  if (blocks.cores_a_cell > 1) return false;
  for (int i = 0; i < blocks.size(); ++i) {
    if (blocks.at(i, i) > 0) return true;
  }
  return false;
}

int fitting_block(const LatencyMatrix& matrix, int most_cells) {
  const int cells = std::max(most_cells, 1);
  return edge_keeping(matrix.edges, (matrix.size() + cells - 1) / cells);
}

int label_step(const Blocks& blocks, int cell_width, int label_width) {
  return edge_keeping(blocks.edges, (label_width + cell_width - 1) / cell_width);
}

double Scale::fraction(double ns) const {
  if (flat() || ns <= least_ns) return 0;
  return std::min(1.0, std::log(ns / least_ns) / std::log(most_ns / least_ns));
}

double Scale::ns_at(double fraction) const {
  return least_ns * std::pow(most_ns / least_ns, fraction);
}

Scale scale_of(const Blocks& blocks) {
  Scale scale;
  for (const double ns : blocks.ns) {
    if (ns <= 0) continue;
    scale.least_ns = scale.least_ns == 0 ? ns : std::min(scale.least_ns, ns);
    scale.most_ns = std::max(scale.most_ns, ns);
  }
  return scale;
}

}  // namespace huddle::picture

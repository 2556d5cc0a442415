// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The latencies between cores as a matrix, and the data of its heat map: blocks if there are more
// cores than cells, and the scale.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"
#include "tools/picture/picture.h"

namespace huddle::picture {

// A boundary of a cache, a NUMA node or a socket between two rows.
struct Edge {
  int row = 0;        // the row after it
  double weight = 0;  // larger for outer levels: a socket outweighs all caches in it

  bool operator==(const Edge&) const = default;
};

struct LatencyMatrix {
  std::vector<int> cores;  // the first hardware thread of each, in the tree's order
  // Row by row. Diagonal elements are between two hardware threads of a core; 0 if it has only one.
  std::vector<double> one_way_ns;
  std::vector<Edge> edges;

  int size() const { return static_cast<int>(cores.size()); }
  double at(int row, int column) const {
    return one_way_ns[static_cast<std::size_t>(row) * cores.size() +
                      static_cast<std::size_t>(column)];
  }
};

// Returns the measured latencies if there are any, otherwise those of the model.
// Requires: validate(machine) passed.
LatencyMatrix latency_matrix(const machine::Machine& machine);

// The matrix in blocks of `cores_a_cell` by `cores_a_cell` cores, averaged without the diagonal.
// Blocks of one core keep the diagonal.
struct Blocks {
  int cores_a_cell = 1;
  std::vector<int> first;   // the first hardware thread of each row and column of cells
  std::vector<double> ns;   // row by row; 0 if a cell contains only one core with one thread
  std::vector<Edge> edges;  // those between two rows of cells

  int size() const { return static_cast<int>(first.size()); }
  double at(int row, int column) const {
    return ns[static_cast<std::size_t>(row) * first.size() + static_cast<std::size_t>(column)];
  }
};
Blocks in_blocks(const LatencyMatrix& matrix, int cores_a_cell);
// Returns whether a cell contains the latency between hardware threads of a core.
bool shows_threads(const Blocks& blocks);

// Returns the smallest number of cores per cell that needs at most `most_cells` cells per side, or
// up to twice that if it matches the edges of caches and sockets better.
int fitting_block(const LatencyMatrix& matrix, int most_cells);

// Returns the distance in cells at which labels of `label_width` do not overlap, or up to twice
// that if labels are then at edges.
int label_step(const Blocks& blocks, int cell_width, int label_width);

// A logarithmic scale from the nearest to the farthest pair, because levels differ by factors.
struct Scale {
  double least_ns = 0;
  double most_ns = 0;

  bool flat() const { return most_ns <= least_ns; }
  double fraction(double ns) const;
  double ns_at(double fraction) const;
};
Scale scale_of(const Blocks& blocks);

// Shade characters for output without colour, from light to dark. There are only a few of them, so
// on a machine with few different latencies each latency gets its own character.
struct Shade {
  double most_ns = 0;  // upper limit
  std::string_view character;
};

struct Shades {
  std::vector<Shade> steps;  // rising; the last one also covers larger values
  bool exact = false;        // each stands for one latency, not for a range

  std::string_view of(double ns) const;
  // Returns for example "░░ 45, ██ 150 ns" or "░░ to 61, ██ to 150 ns".
  std::string legend() const;
};

// Requires: the blocks contain a latency.
Shades shades_for(const Blocks& blocks, const Scale& scale, bool unicode);

// Returns the latencies between cores as a heat map of characters with its scale below; one
// sentence if the machine has only one core.
std::string matrix_text(const machine::Machine& machine, const Style& style);

}  // namespace huddle::picture

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The latencies between cores as a square of numbers, and what a heat map needs of it: blocks where
// there are more cores than cells, and the scale.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"
#include "tools/picture/picture.h"

namespace huddle::picture {

// A place between two rows at which a cache, a node or a socket ends.
struct Edge {
  int row = 0;        // the one after it
  double weight = 0;  // larger for what lies further out: one socket counts for all caches in it

  bool operator==(const Edge&) const = default;
};

struct LatencyMatrix {
  std::vector<int> cores;  // the first processor of each, in the order in which the tree shows them
  // Row by row. On the diagonal: between two hardware threads of that core; 0 where it has one.
  std::vector<double> one_way_ns;
  std::vector<Edge> edges;

  int size() const { return static_cast<int>(cores.size()); }
  double at(int row, int column) const {
    return one_way_ns[static_cast<std::size_t>(row) * cores.size() +
                      static_cast<std::size_t>(column)];
  }
};

// Measured pairs where there are some, the model's latency otherwise. pre: validate(machine)
// passed.
LatencyMatrix latency_matrix(const machine::Machine& machine);

// The same in squares of `cores_a_cell` by as many cores, averaged without the diagonal; of one
// core by one the diagonal stays.
struct Blocks {
  int cores_a_cell = 1;
  std::vector<int> first;   // the first processor of each row and column of cells
  std::vector<double> ns;   // row by row; 0 where a cell holds nothing but one core of one thread
  std::vector<Edge> edges;  // those that lie between two rows of cells

  int size() const { return static_cast<int>(first.size()); }
  double at(int row, int column) const {
    return ns[static_cast<std::size_t>(row) * first.size() + static_cast<std::size_t>(column)];
  }
};
Blocks in_blocks(const LatencyMatrix& matrix, int cores_a_cell);
// Whether a cell holds the latency between hardware threads of a core.
bool shows_threads(const Blocks& blocks);

// The smallest number of cores a cell with which at most `most_cells` cells are needed a side; up
// to twice that where it keeps the edges of caches and sockets better.
int fitting_block(const LatencyMatrix& matrix, int most_cells);

// Every how many cells a label is set so that labels of `label_width` stay apart; up to twice that
// where labels then stand at edges.
int label_step(const Blocks& blocks, int cell_width, int label_width);

// From the nearest pair to the farthest, on a logarithmic scale: levels differ by factors.
struct Scale {
  double least_ns = 0;
  double most_ns = 0;

  bool flat() const { return most_ns <= least_ns; }
  double fraction(double ns) const;
  double ns_at(double fraction) const;
};
Scale scale_of(const Blocks& blocks);

// Characters from light to dark for places without colour. There are few of them, so a machine of
// few different latencies gets one for each.
struct Shade {
  double most_ns = 0;  // up to here
  std::string_view character;
};

struct Shades {
  std::vector<Shade> steps;  // rising; the last one takes everything beyond as well
  bool exact = false;        // each stands for one latency, not for a range

  std::string_view of(double ns) const;
  // "░░ 45, ██ 150 ns" or "░░ to 61, ██ to 150 ns".
  std::string legend() const;
};

// pre: the blocks hold a latency.
Shades shades_for(const Blocks& blocks, const Scale& scale, bool unicode);

// The latencies between cores as a heat map of characters.

// With its scale below; one line that says so where the machine has one core only.
std::string matrix_text(const machine::Machine& machine, const Style& style);

}  // namespace huddle::picture

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// MG: multigrid in three dimensions, with the planes of z distributed over the threads. At the
// edges of a slab, a plane adds to planes of other threads; on coarse grids each thread has few
// planes, most of which are at an edge.
#include <algorithm>
#include <cmath>
#include <deque>

#include "kernel.h"

namespace huddle::kernels {
namespace {

// The threads synchronize about a hundred times per step, which would dominate on smaller grids.
constexpr int finest = 128, coarsest = 16;
// of a cell, in addition to its neighbours' share; does not scale with the grid
constexpr double own = 0.2;

class Mg : public Kernel {
 public:
  Mg() {
    for (int side = finest; side >= coarsest; side /= 2) grids_.emplace_back(side);
  }

  void step(int thread, Meeting& meeting) override {
    if (steps_ % fresh_start == 0) fill(grids_.front().x, grids_.front(), thread, 0);
    fill(grids_.front().b, grids_.front(), thread, 1);
    meeting.arrive_and_wait();
    cycle(0, thread, meeting);
    leave(grids_.front(), thread, meeting);
    if (thread == 0) ++steps_;
    meeting.arrive_and_wait();
  }

  bool is_right(int steps) const override {
    double most = 0;
    for (std::size_t i = 0; i < grids_.front().left.size(); ++i) {
      most = std::max(most, std::abs(grids_.front().left[i]));
    }
    const int since = (steps - 1) % fresh_start + 1;
    return since < 10 ? most < 2 : most < 0.02;
  }

 private:
  static constexpr int fresh_start = 20;
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  struct Grid {
    explicit Grid(int cells_a_side)
        : side(cells_a_side),
          plane(at(side) * at(side)),
          link(static_cast<double>(side * side) / (finest * finest)),
          x(plane * at(side)),
          b(plane * at(side)),
          left(plane * at(side)) {}
    Grid(Grid&& other) = delete;
    // If there are fewer planes than threads, each goes to the first thread that has a part of it.
    int first(int thread) const { return (side * thread + threads - 1) / threads; }
    int last(int thread) const { return (side * (thread + 1) + threads - 1) / threads; }
    double diagonal() const { return 6 * link + own; }

    int side;
    std::size_t plane;
    double link;  // to each neighbour
    Pages<double> x, b, left;
  };

  static void fill(Pages<double>& field, const Grid& grid, int thread, double value) {
    for (std::size_t i = at(grid.first(thread)) * grid.plane;
         i < at(grid.last(thread)) * grid.plane; ++i) {
      field[i] = value;
    }
  }
  // left = b - A x. Only one other plane at a time adds to a plane.
  static void leave(Grid& grid, int thread, Meeting& meeting) {
    const int first = grid.first(thread);
    const int last = grid.last(thread);
    for (int z = first; z < last; ++z) in_plane(grid, z);
    meeting.arrive_and_wait();
    for (int z = first; z < last; ++z) {
      if (z + 1 < grid.side) to_plane(grid, z, z + 1);
    }
    meeting.arrive_and_wait();
    for (int z = first; z < last; ++z) {
      if (z > 0) to_plane(grid, z, z - 1);
    }
    meeting.arrive_and_wait();
  }
  static void in_plane(Grid& grid, int z) {
    const int side = grid.side;
    const double* const x = grid.x.from(at(z) * grid.plane);
    for (int row = 0; row < side; ++row) {
      for (int column = 0; column < side; ++column) {
        const std::size_t i = at(row) * at(side) + at(column);
        double sum = 0;
        if (row > 0) sum += x[i - at(side)];
        if (row + 1 < side) sum += x[i + at(side)];
        if (column > 0) sum += x[i - 1];
        if (column + 1 < side) sum += x[i + 1];
        const std::size_t cell = at(z) * grid.plane + i;
        grid.left[cell] = grid.b[cell] - grid.diagonal() * x[i] + grid.link * sum;
      }
    }
  }
  static void to_plane(Grid& grid, int from, int to) {
    for (std::size_t i = 0; i < grid.plane; ++i) {
      grid.left[at(to) * grid.plane + i] += grid.link * grid.x[at(from) * grid.plane + i];
    }
  }
  static void smooth(Grid& grid, int thread, Meeting& meeting) {
    constexpr double damping = 0.8;
    leave(grid, thread, meeting);
    for (std::size_t i = at(grid.first(thread)) * grid.plane;
         i < at(grid.last(thread)) * grid.plane; ++i) {
      grid.x[i] += damping * grid.left[i] / grid.diagonal();
    }
    meeting.arrive_and_wait();
  }

  void cycle(std::size_t level, int thread, Meeting& meeting) {
    Grid& grid = grids_[level];
    constexpr int at_the_bottom = 12;
    const bool is_last = level + 1 == grids_.size();
    for (int i = 0; i < (is_last ? at_the_bottom : 2); ++i) smooth(grid, thread, meeting);
    if (is_last) return;
    leave(grid, thread, meeting);
    Grid& coarse = grids_[level + 1];
    fill(coarse.x, coarse, thread, 0);
    fill(coarse.b, coarse, thread, 0);
    meeting.arrive_and_wait();
    for (const int parity : {0, 1}) {
      for (int z = grid.first(thread); z < grid.last(thread); ++z) {
        if (z % 2 == parity) restrict_plane(grid, coarse, z);
      }
      meeting.arrive_and_wait();
    }
    cycle(level + 1, thread, meeting);
    for (int z = coarse.first(thread); z < coarse.last(thread); ++z) {
      prolong_plane(coarse, grid, 2 * z);
      prolong_plane(coarse, grid, 2 * z + 1);
    }
    meeting.arrive_and_wait();
    for (int i = 0; i < 2; ++i) smooth(grid, thread, meeting);
  }
  static void restrict_plane(const Grid& grid, Grid& coarse, int z) {
    for (int row = 0; row < grid.side; ++row) {
      for (int column = 0; column < grid.side; ++column) {
        coarse.b[cell(coarse, column / 2, row / 2, z / 2)] +=
            grid.left[cell(grid, column, row, z)] / 8;
      }
    }
  }
  static void prolong_plane(const Grid& coarse, Grid& grid, int z) {
    for (int row = 0; row < grid.side; ++row) {
      for (int column = 0; column < grid.side; ++column) {
        grid.x[cell(grid, column, row, z)] += coarse.x[cell(coarse, column / 2, row / 2, z / 2)];
      }
    }
  }
  static std::size_t cell(const Grid& grid, int column, int row, int z) {
    return at(z) * grid.plane + at(row) * at(grid.side) + at(column);
  }

  std::deque<Grid> grids_;  // finest first
  int steps_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_mg() { return std::make_unique<Mg>(); }

}  // namespace huddle::kernels

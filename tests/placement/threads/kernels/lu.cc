// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// LU: symmetric Gauss-Seidel. A thread has rows of y in all planes of z, and follows the previous
// thread at a distance of two planes; in reverse order on the way back. A change of a cell is
// subtracted from the residuals of its neighbours, which may belong to other threads.
#include <algorithm>
#include <cmath>

#include "kernel.h"

namespace huddle::kernels {
namespace {

constexpr int side = 32;
constexpr double diagonal = 7;  // of a cell; -1 for each of six neighbours
// steps after which it restarts, because the residual is then negligible
constexpr int fresh_start = 20;

class Lu : public Kernel {
 public:
  Lu() : x_(cells), left_(cells) {
    for (std::size_t i = 0; i < cells; ++i) left_[i] = 1;
  }

  void step(int thread, Meeting& meeting) override {
    const Share mine(thread, side);
    if (steps_ % fresh_start == 0) {
      for (int y = mine.first; y < mine.last; ++y) {
        for (std::size_t i = 0; i < plane; ++i) {
          x_[at(y) * plane + i] = 0;
          left_[at(y) * plane + i] = 1;
        }
      }
    }
    meeting.arrive_and_wait();
    const int base = steps_ * 2 * stages;
    for (int z = 0; z < side; ++z) {
      if (thread > 0) progress_.wait_for(thread - 1, base + std::min(z + behind, side));
      for (int y = mine.first; y < mine.last; ++y) {
        for (int x = 0; x < side; ++x) settle(x, y, z);
      }
      progress_.tell(thread, base + z + 1);
    }
    meeting.arrive_and_wait();
    for (int z = side - 1; z >= 0; --z) {
      const int done = side - 1 - z;
      if (thread + 1 < threads) {
        progress_.wait_for(thread + 1, base + stages + std::min(done + behind, side));
      }
      for (int y = mine.last - 1; y >= mine.first; --y) {
        for (int x = side - 1; x >= 0; --x) settle(x, y, z);
      }
      progress_.tell(thread, base + stages + done + 1);
    }
    meeting.arrive_and_wait();
    if (thread == 0) ++steps_;
    meeting.arrive_and_wait();
  }

  // Checks that the stored residual is correct and small.
  bool is_right(int steps) const override {
    double most = 0;
    for (int y = 0; y < side; ++y) {
      for (int z = 0; z < side; ++z) {
        for (int x = 0; x < side; ++x) {
          const double left = 1 - diagonal * value(x, y, z) + value(x - 1, y, z) +
                              value(x + 1, y, z) + value(x, y - 1, z) + value(x, y + 1, z) +
                              value(x, y, z - 1) + value(x, y, z + 1);
          if (std::abs(left - left_[cell(x, y, z)]) > 1e-9) return false;
          most = std::max(most, std::abs(left));
        }
      }
    }
    const int since = (steps - 1) % fresh_start + 1;
    return since < 10 || most < 0.01;
  }

 private:
  static constexpr std::size_t plane = std::size_t{side} * side, cells = plane * side;
  static constexpr int stages = side;
  // The previous thread has finished the plane and the next one, which touches this one.
  static constexpr int behind = 2;
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static std::size_t cell(int x, int y, int z) { return at(y) * plane + at(z) * side + at(x); }
  static bool is_inside(int i) { return i >= 0 && i < side; }
  double value(int x, int y, int z) const {
    return is_inside(x) && is_inside(y) && is_inside(z) ? x_[cell(x, y, z)] : 0;
  }
  void settle(int x, int y, int z) {
    const double change = left_[cell(x, y, z)] / diagonal;
    x_[cell(x, y, z)] += change;
    left_[cell(x, y, z)] = 0;
    if (x > 0) left_[cell(x - 1, y, z)] += change;
    if (x + 1 < side) left_[cell(x + 1, y, z)] += change;
    if (y > 0) left_[cell(x, y - 1, z)] += change;
    if (y + 1 < side) left_[cell(x, y + 1, z)] += change;
    if (z > 0) left_[cell(x, y, z - 1)] += change;
    if (z + 1 < side) left_[cell(x, y, z + 1)] += change;
  }

  Pages<double> x_, left_;
  Progress progress_;
  int steps_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_lu() { return std::make_unique<Lu>(); }

}  // namespace huddle::kernels

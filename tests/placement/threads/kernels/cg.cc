// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// CG: conjugate gradients with a symmetric sparse matrix of which the lower half is stored: each
// entry adds to two elements of the product, of which the second may belong to another thread. Most
// entries are near the diagonal, some are anywhere.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "kernel.h"

namespace huddle::kernels {
namespace {

constexpr int rows = 131'072, entries_a_row = 6, rounds = 25;
constexpr int nearness = rows / threads / 2;  // maximum distance of most entries from the diagonal
constexpr int one_in_far = 32;                // one in this many entries is anywhere

class Cg : public Kernel {
 public:
  Cg()
      : entries_(std::size_t{rows} * entries_a_row),
        diagonal_(rows),
        x_(rows),
        p_(rows),
        q_(rows),
        r_(rows),
        sums_(threads) {
    std::uint64_t seed = 3;
    for (int row = 0; row < rows; ++row) {
      diagonal_[at(row)] += 1;
      for (int e = 0; e < entries_a_row; ++e) {
        const bool is_far = next_random(seed) % one_in_far == 0;
        const int reach = is_far ? row : std::min(row, nearness);
        if (reach == 0) continue;
        const int column = row - 1 - static_cast<int>(next_random(seed) % at(reach));
        const double value = fraction(seed);
        entries_[at(row) * entries_a_row + at(e)] = {column, -value};
        diagonal_[at(row)] += value;
        diagonal_[at(column)] += value;
      }
    }
  }

  void step(int thread, Meeting& meeting) override {
    const Share mine(thread, rows);
    for (int i = mine.first; i < mine.last; ++i) {
      x_[at(i)] = 0;
      r_[at(i)] = p_[at(i)] = right_side(i);
    }
    double square = 0;
    for (int i = 0; i < rows; ++i) square += right_side(i) * right_side(i);
    for (int round = 0; round < rounds; ++round) {
      for (int i = mine.first; i < mine.last; ++i) q_[at(i)] = diagonal_[at(i)] * p_[at(i)];
      meeting.arrive_and_wait();
      multiply(mine);
      meeting.arrive_and_wait();
      double product = 0;
      for (int i = mine.first; i < mine.last; ++i) product += p_[at(i)] * q_[at(i)];
      const double alpha = square / total(thread, product, meeting);
      double next = 0;
      for (int i = mine.first; i < mine.last; ++i) {
        x_[at(i)] += alpha * p_[at(i)];
        r_[at(i)] -= alpha * q_[at(i)];
        next += r_[at(i)] * r_[at(i)];
      }
      next = total(thread, next, meeting);
      for (int i = mine.first; i < mine.last; ++i) {
        p_[at(i)] = r_[at(i)] + next / square * p_[at(i)];
      }
      square = next;
      meeting.arrive_and_wait();
    }
  }

  // Checks that the residual of the result is less than a hundredth.
  bool is_right(int) const override {
    std::vector<double> left(rows);
    for (int i = 0; i < rows; ++i) left[at(i)] += right_side(i) - diagonal_[at(i)] * x_[at(i)];
    for (int row = 0; row < rows; ++row) {
      for (int e = 0; e < entries_a_row; ++e) {
        const Entry& entry = entries_[at(row) * entries_a_row + at(e)];
        left[at(row)] -= entry.value * x_[at(entry.column)];
        left[at(entry.column)] -= entry.value * x_[at(row)];
      }
    }
    double square = 0;
    for (const double one : left) square += one * one;
    return std::sqrt(square / rows) < 0.01;
  }

 private:
  struct Entry {
    int column = 0;
    double value = 0;  // 0: no entry
  };
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static double right_side(int i) { return i % 3 - i % 7; }
  void multiply(Share mine) {
    for (int row = mine.first; row < mine.last; ++row) {
      double sum = 0;
      for (int e = 0; e < entries_a_row; ++e) {
        const Entry& entry = entries_[at(row) * entries_a_row + at(e)];
        if (entry.value == 0) continue;
        sum += entry.value * p_[at(entry.column)];
        add(q_[at(entry.column)], entry.value * p_[at(row)]);
      }
      add(q_[at(row)], sum);
    }
  }
  static void add(double& to, double value) {
    std::atomic_ref<double>(to).fetch_add(value, std::memory_order_relaxed);
  }
  double total(int thread, double part, Meeting& meeting) {
    sums_[at(thread)].part = part;
    meeting.arrive_and_wait();
    double sum = 0;
    for (std::size_t t = 0; t < threads; ++t) sum += sums_[t].part;
    meeting.arrive_and_wait();
    return sum;
  }

  struct alignas(64) Sum {
    double part = 0;
  };
  Pages<Entry> entries_;
  Pages<double> diagonal_, x_, p_, q_, r_;
  Pages<Sum> sums_;
};

}  // namespace

std::unique_ptr<Kernel> make_cg() { return std::make_unique<Cg>(); }

}  // namespace huddle::kernels

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// SP and BT: one step of diffusion along lines of x, then y, then z. Each thread has a slab of
// planes. Lines of z cross all slabs: a thread that has eliminated its part continues in the first
// plane of the next slab, and back.
#include <cmath>
#include <numbers>
#include <vector>

#include "kernel.h"

namespace huddle::kernels {
namespace {

constexpr int side = 32, fields = 5;
constexpr double strength = 0.1;
constexpr std::size_t plane = std::size_t{side} * side;

class Sp : public Kernel {
 public:
  Sp() : u_(fields * plane * side), pivots_(side) {
    for (int i = 0; i < side; ++i) {
      pivots_[at(i)] = i == 0 ? diagonal : diagonal - strength * strength / pivots_[at(i - 1)];
    }
    // The slowest wave, which decays by a known factor per step.
    for (int z = 0; z < side; ++z) {
      for (int f = 0; f < fields; ++f) {
        for (int y = 0; y < side; ++y) {
          for (int x = 0; x < side; ++x) {
            planes(z, f)[at(y) * side + at(x)] = (f + 1) * wave(x) * wave(y) * wave(z);
          }
        }
      }
    }
  }

  void step(int thread, Meeting& meeting) override {
    const Share mine(thread, side);
    for (int z = mine.first; z < mine.last; ++z) {
      for (int f = 0; f < fields; ++f) {
        for (int line = 0; line < side; ++line) solve(planes(z, f) + at(line) * side, 1);
        for (int line = 0; line < side; ++line) solve(planes(z, f) + line, side);
      }
    }
    meeting.arrive_and_wait();
    const int base = steps_ * 2 * fields;
    for (int f = 0; f < fields; ++f) {
      if (thread > 0) progress_.wait_for(thread - 1, base + f + 1);
      for (int z = mine.first; z < mine.last; ++z) {
        if (z + 1 < side) add(planes(z + 1, f), planes(z, f), strength / pivots_[at(z)]);
      }
      progress_.tell(thread, base + f + 1);
    }
    meeting.arrive_and_wait();
    for (int f = 0; f < fields; ++f) {
      if (thread + 1 < threads) progress_.wait_for(thread + 1, base + fields + f + 1);
      for (int z = mine.last - 1; z >= mine.first; --z) {
        double* const here = planes(z, f);
        for (std::size_t i = 0; i < plane; ++i) here[i] /= pivots_[at(z)];
        if (z > 0) add(planes(z - 1, f), here, strength);
      }
      progress_.tell(thread, base + fields + f + 1);
    }
    meeting.arrive_and_wait();
    if (thread == 0) ++steps_;
    meeting.arrive_and_wait();
  }

  bool is_right(int steps) const override {
    const double decay = std::pow(diagonal - 2 * strength * std::cos(angle), -3.0 * steps);
    const std::size_t middle = (at(side / 2) * fields + 2) * plane + plane / 2 + side / 2;
    const double expected = 3 * std::pow(wave(side / 2), 3) * decay;
    return std::abs(u_[middle] - expected) <= 1e-6 * expected;
  }

 private:
  static constexpr double diagonal = 1 + 2 * strength;
  static constexpr double angle = std::numbers::pi / (side + 1);
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static double wave(int i) { return std::sin((i + 1) * angle); }
  double* planes(int z, int field) { return u_.from((at(z) * fields + at(field)) * plane); }
  static void add(double* to, const double* from, double factor) {
    for (std::size_t i = 0; i < plane; ++i) to[i] += factor * from[i];
  }
  void solve(double* line, std::size_t stride) const {
    for (int i = 0; i + 1 < side; ++i) {
      line[at(i + 1) * stride] += strength / pivots_[at(i)] * line[at(i) * stride];
    }
    for (int i = side - 1; i >= 0; --i) {
      line[at(i) * stride] /= pivots_[at(i)];
      if (i > 0) line[at(i - 1) * stride] += strength * line[at(i) * stride];
    }
  }

  Pages<double> u_;
  std::vector<double> pivots_;
  Progress progress_;
  int steps_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_sp() { return std::make_unique<Sp>(); }

}  // namespace huddle::kernels

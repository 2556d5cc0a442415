// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// EP: counts the pairs of random numbers that lie in a circle. No thread writes to memory of
// another.
#include <cmath>
#include <numbers>

#include "kernel.h"

namespace huddle::kernels {
namespace {

constexpr int pairs_a_step = 500'000, bins = 4096;

class Ep : public Kernel {
 public:
  Ep() : assignments_(threads), bins_(std::size_t{bins} * threads) {}

  void step(int thread, Meeting&) override {
    Assignment& assignment = assignments_[static_cast<std::size_t>(thread)];
    if (assignment.pairs == 0) assignment.seed = static_cast<std::uint64_t>(thread) << 32U;
    long* const bin = bins_.from(std::size_t{bins} * static_cast<std::size_t>(thread));
    for (int i = 0; i < pairs_a_step; ++i) {
      const double x = 2 * fraction(assignment.seed) - 1;
      const double y = 2 * fraction(assignment.seed) - 1;
      const double square = x * x + y * y;
      if (square <= 1) {
        ++assignment.inside;
        ++bin[static_cast<std::size_t>(square * (bins - 1))];
      }
      ++assignment.pairs;
    }
  }

  bool is_right(int) const override {
    double inside = 0;
    double pairs = 0;
    for (std::size_t i = 0; i < assignments_.size(); ++i) {
      inside += static_cast<double>(assignments_[i].inside);
      pairs += static_cast<double>(assignments_[i].pairs);
    }
    return std::abs(inside / pairs - std::numbers::pi / 4) < 5 * 0.41 / std::sqrt(pairs);
  }

 private:
  struct alignas(page_bytes) Assignment {
    std::uint64_t seed = 0;
    long pairs = 0, inside = 0;
  };
  Pages<Assignment> assignments_;
  Pages<long> bins_;  // by thread: histogram of the distance from the centre
};

}  // namespace

std::unique_ptr<Kernel> make_ep() { return std::make_unique<Ep>(); }

}  // namespace huddle::kernels

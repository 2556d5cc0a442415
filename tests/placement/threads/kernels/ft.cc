// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// FT: a Fourier transform in two dimensions, and back. Each thread transforms its own rows and
// writes them to columns of the other array, which contain rows of all threads.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

#include "kernel.h"

namespace huddle::kernels {
namespace {

constexpr int side = 128;  // a power of two

class Ft : public Kernel {
 public:
  Ft() : a_(cells), b_(cells), start_(cells) {
    std::uint64_t seed = 1;
    for (std::size_t i = 0; i < cells; ++i) a_[i] = start_[i] = {fraction(seed), fraction(seed)};
  }

  void step(int thread, Meeting& meeting) override {
    const Share mine(thread, side);
    for (const double sign : {-1.0, 1.0}) {
      pass(a_, b_, mine, sign);
      meeting.arrive_and_wait();
      pass(b_, a_, mine, sign);
      meeting.arrive_and_wait();
    }
  }

  // Forward and backward transform restore the input.
  bool is_right(int steps) const override {
    double most = 0;
    for (std::size_t i = 0; i < cells; ++i) most = std::max(most, std::abs(a_[i] - start_[i]));
    return most < 1e-13 * (steps + 1);
  }

 private:
  using Complex = std::complex<double>;
  static constexpr std::size_t cells = std::size_t{side} * side;
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  static void pass(Pages<Complex>& from, Pages<Complex>& to, Share mine, double sign) {
    for (int row = mine.first; row < mine.last; ++row) {
      Complex* const line = from.from(at(row) * side);
      transform(line, sign);
      for (int i = 0; i < side; ++i) to[at(i) * side + at(row)] = line[i];
    }
  }
  // In place. Both directions divide by the square root of the size, so that together they cancel.
  static void transform(Complex* line, double sign) {
    for (int i = 1, j = 0; i < side; ++i) {
      int bit = side >> 1;
      for (; (j & bit) != 0; bit >>= 1) j ^= bit;
      j |= bit;
      if (i < j) std::swap(line[i], line[j]);
    }
    for (int length = 2; length <= side; length *= 2) {
      const Complex turn = std::polar(1.0, sign * 2 * std::numbers::pi / length);
      for (int first = 0; first < side; first += length) {
        Complex factor = 1;
        for (int i = 0; i < length / 2; ++i) {
          const Complex even = line[first + i];
          const Complex odd = factor * line[first + i + length / 2];
          line[first + i] = even + odd;
          line[first + i + length / 2] = even - odd;
          factor *= turn;
        }
      }
    }
    for (int i = 0; i < side; ++i) line[i] /= std::sqrt(static_cast<double>(side));
  }

  Pages<Complex> a_, b_;
  Pages<Complex> start_;
};

}  // namespace

std::unique_ptr<Kernel> make_ft() { return std::make_unique<Ft>(); }

}  // namespace huddle::kernels

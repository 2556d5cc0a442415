// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A simulated sampler with a given noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace huddle::calibrate {

// Multiplicative normal noise around a true time. The variates come from a table, so that millions
// of samples are cheap in a debug build.
class NoisySampler {
 public:
  NoisySampler(double true_ns, double noise, std::uint64_t seed)
      : true_ns_(true_ns), noise_(noise), random_(seed), table_(table_size) {
    std::normal_distribution<double> normal;
    for (double& variate : table_) variate = normal(random_);
  }
  double next() { return true_ns_ * (1 + noise_ * table_[random_() % table_size]); }
  std::vector<double> series(std::size_t count) {
    std::vector<double> samples(count);
    for (double& sample : samples) sample = next();
    return samples;
  }

 private:
  static constexpr std::size_t table_size = 1 << 18;
  double true_ns_;
  double noise_;
  std::mt19937_64 random_;
  std::vector<double> table_;
};

}  // namespace huddle::calibrate

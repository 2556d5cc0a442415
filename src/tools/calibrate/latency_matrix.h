// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reads a published matrix of core-to-core latencies.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::calibrate {

// Symmetric latencies between hardware threads 0 to size - 1.
class LatencyMatrix {
 public:
  explicit LatencyMatrix(std::size_t size) : size_(size), ns_(size * size) {}

  std::size_t size() const { return size_; }
  double at(std::size_t a, std::size_t b) const { return ns_[a * size_ + b]; }
  void set(std::size_t a, std::size_t b, double ns) {
    ns_[a * size_ + b] = ns_[b * size_ + a] = ns;
  }

 private:
  std::size_t size_;
  std::vector<double> ns_;
};

// Parses comma-separated values: row i contains the latencies in ns between hardware thread i and
// all others. Fields on the diagonal are ignored. If only one of the fields (a, b) and (b, a) is
// filled, it holds for both directions; of two, the mean is used. Throws InputError "NAME:LINE:
// error" for rows of different lengths, a matrix that is not square, a missing latency, and one
// that is not a positive number.
LatencyMatrix parse_latencies(std::string_view text, const std::string& name);

}  // namespace huddle::calibrate

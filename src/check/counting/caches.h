// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Who holds each line: a cache of endless size for every rank, kept coherent. A line has the rank
// that wrote it last and those that have read it since; a write takes it from all others.
#pragma once

#include <cstddef>
#include <vector>

#include "check/counting/counts.h"

namespace huddle::verify::counting {

class Caches {
 public:
  // For so many bytes.
  Caches(int ranks, std::size_t bytes, Counts& counts);

  // Each counts a transfer for every line that the rank does not hold and another has written. What
  // nobody has written comes from memory and counts nothing.
  void read(int rank, std::size_t first, std::size_t n);
  void write(int rank, std::size_t first, std::size_t n);

 private:
  static constexpr std::size_t line_bytes = 64;
  static constexpr int nobody = -1;

  struct Line {
    int writer = nobody;
    std::vector<bool> holders;  // by rank
  };

  template <class Touch>
  void each_line(std::size_t first, std::size_t n, Touch touch);
  void fetch(int rank, Line& line);

  std::vector<Line> lines_;
  Counts& counts_;
};

}  // namespace huddle::verify::counting

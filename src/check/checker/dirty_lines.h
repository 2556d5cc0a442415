// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Which lines of an array were touched: an execution touches few, so that beginning the next one
// costs little.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace huddle::verify::checker {

class DirtyLines {
 public:
  explicit DirtyLines(std::size_t bytes)
      : bytes_(bytes), marked_((bytes + line_bytes - 1) / line_bytes) {}

  // pre: first + n is within the array.
  void mark(std::size_t first, std::size_t n) {
    if (n == 0) return;
    for (std::size_t line = first / line_bytes; line <= (first + n - 1) / line_bytes; ++line) {
      if (marked_[line]) continue;
      marked_[line] = true;
      lines_.push_back(line);
    }
  }

  // Calls clean(first byte, bytes) for each and forgets them.
  template <class Clean>
  void clean_all(Clean clean) {
    each(clean);
    for (const std::size_t line : lines_) marked_[line] = false;
    lines_.clear();
  }

  // Calls visit(first byte, bytes) for each.
  template <class Visit>
  void each(Visit visit) const {
    for (const std::size_t line : lines_) {
      const std::size_t first = line * line_bytes;
      visit(first, std::min(line_bytes, bytes_ - first));
    }
  }

 private:
  static constexpr std::size_t line_bytes = 64;

  std::size_t bytes_;
  std::vector<bool> marked_;
  std::vector<std::size_t> lines_;
};

}  // namespace huddle::verify::checker

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "check/counting/caches.h"

namespace huddle::verify::counting {

Caches::Caches(int ranks, std::size_t bytes, Counts& counts)
    : lines_((bytes + line_bytes - 1) / line_bytes,
             Line{nobody, std::vector<bool>(static_cast<std::size_t>(ranks))}),
      counts_(counts) {}

void Caches::read(int rank, std::size_t first, std::size_t n) {
  each_line(first, n, [&](Line& line) { fetch(rank, line); });
}

void Caches::write(int rank, std::size_t first, std::size_t n) {
  each_line(first, n, [&](Line& line) {
    fetch(rank, line);
    line.holders.assign(line.holders.size(), false);
    line.holders[static_cast<std::size_t>(rank)] = true;
    line.writer = rank;
  });
}

template <class Touch>
void Caches::each_line(std::size_t first, std::size_t n, Touch touch) {
  if (n == 0) return;
  for (std::size_t i = first / line_bytes; i <= (first + n - 1) / line_bytes; ++i) touch(lines_[i]);
}

void Caches::fetch(int rank, Line& line) {
  const auto me = static_cast<std::size_t>(rank);
  if (!line.holders[me] && line.writer != nobody) counts_.add_transfer(line.writer, rank);
  line.holders[me] = true;
}

}  // namespace huddle::verify::counting

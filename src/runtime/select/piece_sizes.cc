// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/piece_sizes.h"

#include <algorithm>

#include "runtime/node/lines.h"

namespace huddle::select {

std::vector<std::size_t> piece_sizes(std::size_t bytes, std::size_t capacity) {
  std::vector<std::size_t> sizes = {std::min(node::most_in_line, capacity)};
  for (std::size_t size = 4 * node::line_bytes; size <= capacity; size *= 2) {
    if (sizes.back() >= bytes) break;
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace huddle::select

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Queries the NUMA nodes that this process may use, and checks on which of them its pages are.
#pragma once

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstddef>
#include <span>
#include <vector>

#include "runtime/memory/page_buffer.h"

namespace huddle::memory {

// Returns the node of the core that runs the caller.
inline int current_numa_node() {
  unsigned int node = 0;
  return syscall(SYS_getcpu, nullptr, &node, nullptr) == 0 ? static_cast<int>(node) : 0;
}

// Returns the nodes on which this process may allocate memory, in ascending order.
inline std::vector<int> allowed_numa_nodes() {
  constexpr std::size_t most_nodes = 1024;
  constexpr std::size_t bits_per_word = sizeof(unsigned long) * CHAR_BIT;
  std::array<unsigned long, most_nodes / bits_per_word> mask{};
  if (syscall(SYS_get_mempolicy, nullptr, mask.data(), most_nodes, nullptr, MPOL_F_MEMS_ALLOWED) !=
      0) {
    return {0};
  }
  std::vector<int> nodes;
  for (std::size_t bit = 0; bit < most_nodes; ++bit) {
    if ((mask[bit / bits_per_word] >> (bit % bits_per_word) & 1) != 0) {
      nodes.push_back(static_cast<int>(bit));
    }
  }
  return nodes;
}

struct Placement {
  std::size_t pages = 0;
  std::size_t elsewhere = 0;  // on another node than wanted_node
};

// Counts the pages and those on other nodes. Requires: whole pages.
inline Placement check_placement(std::span<const std::byte> pages, int wanted_node) {
  Placement placement;
  for (const int node : numa_nodes_of_pages(pages)) {
    ++placement.pages;
    if (node != unknown_node && node != wanted_node) ++placement.elsewhere;
  }
  return placement;
}

}  // namespace huddle::memory

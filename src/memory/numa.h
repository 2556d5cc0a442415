// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// On which NUMA node memory lies, and where it is to lie. The system calls themselves: libnuma
// would be one more library for a few lines. A kernel without NUMA has none of these calls, and
// one node, number 0; so has qemu-user.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace huddle::memory {

inline constexpr int unknown_node = -1;

// The node of the processor that the caller runs on right now.
int current_numa_node();
// The nodes that this process may have memory on, ascending.
std::vector<int> allowed_numa_nodes();

// The node of each page of this memory, unknown_node where the kernel does not say. Reads a byte of
// every page, since the kernel tells only of pages that the caller has mapped. pre: whole pages.
std::vector<int> numa_nodes_of_pages(std::span<const std::byte> pages);

struct Placement {
  std::size_t pages = 0;
  std::size_t elsewhere = 0;  // on another node than the wanted one
  std::size_t unknown = 0;
};
// pre: whole pages.
Placement check_placement(std::span<const std::byte> pages, int wanted_node);

// This memory, which nobody has touched yet, comes from that node and no other. Throws FailureError
// where the kernel refuses.
void bind_to_node(std::span<std::byte> pages, int node);

}  // namespace huddle::memory

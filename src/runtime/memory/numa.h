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

// The node of each page of this memory, unknown_node where the kernel does not say. Reads a byte of
// every page, since the kernel tells only of pages that the caller has mapped. pre: whole pages.
std::vector<int> numa_nodes_of_pages(std::span<const std::byte> pages);

// This memory, which nobody has touched yet, comes from that node and no other. Throws FailureError
// where the kernel refuses.
void bind_to_node(std::span<std::byte> pages, int node);

}  // namespace huddle::memory

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/numa.h"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "common/error.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {
namespace {

using NodeMask = std::vector<unsigned long>;
constexpr int bits_a_word = sizeof(unsigned long) * CHAR_BIT;
// The kernel refuses a mask with less room than it has nodes; none is built for more than 1024.
constexpr std::size_t mask_words = 1024 / bits_a_word;

NodeMask mask_of(int node) {
  NodeMask mask(std::max(mask_words, static_cast<std::size_t>(node / bits_a_word) + 1), 0);
  mask[static_cast<std::size_t>(node / bits_a_word)] = 1UL << (node % bits_a_word);
  return mask;
}

// The kernel takes one bit less than it is told, so it is told one more.
unsigned long bits_of(const NodeMask& mask) { return mask.size() * bits_a_word + 1; }

void require(long result, int node) {
  if (result == 0 || (errno == ENOSYS && node == 0)) return;
  throw FailureError(
      fmt::format("cannot place memory on NUMA node {}: {}", node, std::strerror(errno)));
}

}  // namespace

std::vector<int> numa_nodes_of_pages(std::span<const std::byte> pages) {
  std::vector<const void*> addresses;
  for (std::size_t at = 0; at < pages.size(); at += page_bytes()) {
    static_cast<void>(*static_cast<const volatile std::byte*>(&pages[at]));
    addresses.push_back(&pages[at]);
  }
  std::vector<int> nodes(addresses.size(), unknown_node);
  const long result =
      syscall(SYS_move_pages, 0, addresses.size(), addresses.data(), nullptr, nodes.data(), 0);
  for (int& node : nodes) {
    if (result != 0 || node < 0) node = unknown_node;
  }
  return nodes;
}

void bind_to_node(std::span<std::byte> pages, int node) {
  const NodeMask mask = mask_of(node);
  require(syscall(SYS_mbind, pages.data(), pages.size(), MPOL_BIND, mask.data(), bits_of(mask), 0),
          node);
}

}  // namespace huddle::memory

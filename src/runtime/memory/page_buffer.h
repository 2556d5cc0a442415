// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Pages straight from the kernel: aligned, untouched until their owner touches them, and on a NUMA
// node of choice.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace huddle::memory {

// On which NUMA node memory lies, and where it is to lie. The system calls themselves: libnuma
// would be one more library for a few lines. A kernel without NUMA has none of these calls, and
// one node, number 0; so has qemu-user.
inline constexpr int unknown_node = -1;

// The node of each page of this memory, unknown_node where the kernel does not say. Reads a byte of
// every page, since the kernel tells only of pages that the caller has mapped. pre: whole pages.
std::vector<int> numa_nodes_of_pages(std::span<const std::byte> pages);

// This memory, which nobody has touched yet, comes from that node and no other. Throws FailureError
// where the kernel refuses.
void bind_to_node(std::span<std::byte> pages, int node);

std::size_t page_bytes();
// Of memory that the machine has.
std::size_t machine_bytes();

class PageBuffer {
 public:
  // No NUMA node asked for: each page goes to the node of the processor that touches it first.
  static constexpr int where_touched = -1;

  PageBuffer() = default;
  // Rounded up to whole pages; 0 bytes map nothing. Throws FailureError when there is no memory, or
  // when the kernel does not place memory on that node.
  explicit PageBuffer(std::size_t bytes, int numa_node = where_touched);
  PageBuffer(PageBuffer&& other) noexcept;
  PageBuffer& operator=(PageBuffer&& other) noexcept;
  ~PageBuffer();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }

  // Writes to every page, so that it exists and belongs to the node of the caller (or the one asked
  // for).
  void touch() const;
  // Small pages only, whatever the system's habit is. Where the kernel knows no huge pages nothing
  // changes.
  void forbid_huge_pages() const;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// A range of addresses of which only what is touched takes memory: for data that lie far apart.
class SparseBuffer {
 public:
  // Zero everywhere. Throws std::bad_alloc.
  explicit SparseBuffer(std::size_t bytes);
  SparseBuffer(const SparseBuffer&) = delete;
  SparseBuffer& operator=(const SparseBuffer&) = delete;
  ~SparseBuffer();

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace huddle::memory

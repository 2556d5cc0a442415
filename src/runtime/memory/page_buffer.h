// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Page-aligned memory from the kernel, untouched and optionally bound to a NUMA node.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace huddle::memory {

// NUMA placement uses system calls directly, to avoid a dependency on libnuma. Kernels without NUMA
// support and qemu-user lack these calls; there is then a single node, number 0.
inline constexpr int unknown_node = -1;

// Returns the node of each page, or unknown_node if the kernel does not report it. Reads a byte of
// every page, because the kernel reports only pages that the caller has mapped.
// Requires: whole pages.
std::vector<int> numa_nodes_of_pages(std::span<const std::byte> pages);

// Returns the nodes of at most `most_pages` pages at equal distances in the memory, or unknown_node
// for pages that are not mapped. Does not access the memory, which may be invalid or on a device.
// Returns nothing if the memory is smaller than that number of pages.
std::vector<int> sample_numa_nodes(std::span<const std::byte> memory, int most_pages);

// Returns whether pages that this thread touches are allocated on its NUMA node, because neither it
// nor the program that started it has set another policy, for example by numactl. Returns false if
// the kernel does not report the policy.
bool allocates_on_own_node();

// Binds memory to a NUMA node. Throws FailureError if the kernel refuses.
// Requires: the memory is untouched.
void bind_to_node(std::span<std::byte> pages, int node);

std::size_t page_bytes();
// Returns the size of the machine's memory.
std::size_t machine_bytes();

class PageBuffer {
 public:
  // No binding: each page is allocated on the node of the core that touches it first.
  static constexpr int where_touched = -1;

  PageBuffer() = default;
  // Rounds up to whole pages; 0 bytes map nothing. Throws FailureError if memory is exhausted or
  // the kernel does not support that node.
  explicit PageBuffer(std::size_t bytes, int numa_node = where_touched);
  PageBuffer(PageBuffer&& other) noexcept;
  PageBuffer& operator=(PageBuffer&& other) noexcept;
  ~PageBuffer();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }

  // Writes to every page, so that it is allocated, on the caller's node unless it is bound.
  void touch() const;
  // Disables transparent huge pages for this memory. No effect on kernels without them.
  void forbid_huge_pages() const;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// An address range in which only touched pages take memory, for data at distant addresses.
class SparseBuffer {
 public:
  // Zero-initialised. Throws std::bad_alloc.
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

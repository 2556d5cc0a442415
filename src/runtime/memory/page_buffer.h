// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Pages straight from the kernel: aligned, untouched until their owner touches them, and on a NUMA
// node of choice.
#pragma once

#include <cstddef>
#include <span>

namespace huddle::memory {

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

}  // namespace huddle::memory

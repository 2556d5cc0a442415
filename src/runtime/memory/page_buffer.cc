// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/page_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/error.h"
#include "common/text.h"
#include "runtime/memory/numa.h"

namespace huddle::memory {
std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t machine_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
}

PageBuffer::PageBuffer(std::size_t bytes, int numa_node) {
  const std::size_t page = page_bytes();
  size_ = (bytes + page - 1) / page * page;
  if (size_ == 0) return;
  void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    throw FailureError(fmt::format("cannot get {} of memory: {}",
                                   size_text(static_cast<double>(size_)), std::strerror(errno)));
  }
  data_ = static_cast<std::byte*>(mapped);
  if (numa_node == where_touched) return;
  try {
    bind_to_node({data_, size_}, numa_node);
  } catch (...) {
    munmap(data_, size_);
    throw;
  }
}

PageBuffer::PageBuffer(PageBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

PageBuffer& PageBuffer::operator=(PageBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PageBuffer::~PageBuffer() {
  if (data_ != nullptr) munmap(data_, size_);
}

void PageBuffer::touch() const {
  const std::size_t page = page_bytes();
  for (std::size_t at = 0; at < size_; at += page) data_[at] = std::byte{1};
}

void PageBuffer::forbid_huge_pages() const {
  if (size_ != 0) madvise(data_, size_, MADV_NOHUGEPAGE);
}

}  // namespace huddle::memory

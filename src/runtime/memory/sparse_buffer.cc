// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/sparse_buffer.h"

#include <sys/mman.h>

#include <new>

namespace huddle::memory {

SparseBuffer::SparseBuffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes_ == 0) return;
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(mapped);
}

SparseBuffer::~SparseBuffer() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace huddle::memory

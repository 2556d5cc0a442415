// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A range of addresses of which only what is touched takes memory: for data that lie far apart.
#pragma once

#include <cstddef>

namespace huddle::memory {

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

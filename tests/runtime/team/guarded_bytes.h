// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Buffers for tests of calls that must not access memory beyond them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>

#include "common/error.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::team {

// A buffer that is followed by an inaccessible page, so that an access beyond its end faults.
class GuardedBytes {
 public:
  explicit GuardedBytes(std::size_t bytes)
      : page_(memory::page_bytes()),
        mapped_((bytes + page_ - 1) / page_ * page_ + page_),
        map_(mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (map_ == MAP_FAILED) throw FailureError("no memory for a guarded buffer");
    std::byte* const guard = static_cast<std::byte*>(map_) + mapped_ - page_;
    if (mprotect(guard, page_, PROT_NONE) != 0) throw FailureError("cannot protect a page");
    begin_ = guard - bytes;
    std::memset(map_, 0x5a, mapped_ - page_);
  }
  ~GuardedBytes() { munmap(map_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  std::byte* data() const { return begin_; }

 private:
  std::size_t page_;
  std::size_t mapped_;
  void* map_;
  std::byte* begin_ = nullptr;
};

}  // namespace huddle::team

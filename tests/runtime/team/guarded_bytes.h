// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Buffers for tests of calls that must not access memory beyond them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>

#include "common/error.h"

namespace huddle::team {

// A buffer that is followed by an inaccessible page, so that an access beyond its end faults.
class GuardedBytes {
 public:
  explicit GuardedBytes(std::size_t bytes)
      : mapped_((bytes + page - 1) / page * page + page),
        map_(mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (map_ == MAP_FAILED) throw FailureError("no memory for a guarded buffer");
    std::byte* const guard = static_cast<std::byte*>(map_) + mapped_ - page;
    mprotect(guard, page, PROT_NONE);
    begin_ = guard - bytes;
    std::memset(map_, 0x5a, mapped_ - page);
  }
  ~GuardedBytes() { munmap(map_, mapped_); }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  std::byte* data() const { return begin_; }

 private:
  static constexpr std::size_t page = 4096;
  std::size_t mapped_;
  void* map_;
  std::byte* begin_ = nullptr;
};

}  // namespace huddle::team

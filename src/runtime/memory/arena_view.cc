// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/arena_view.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/error.h"
#include "common/text.h"

namespace huddle::memory {

ArenaId ArenaId::random() {
  ArenaId id;
  if (getrandom(id.words.data(), sizeof(id.words), 0) == sizeof(id.words)) return id;
  throw FailureError(fmt::format("the system has no random numbers: {}", std::strerror(errno)));
}

ArenaView::ArenaView(int descriptor, std::size_t cap_bytes)
    : cap_bytes_(cap_bytes), process_(getpid()) {
  void* mapped =
      mmap(nullptr, cap_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (mapped == MAP_FAILED) {
    throw FailureError(fmt::format("cannot map {} of addresses for shared memory: {}",
                                   size_text(static_cast<double>(cap_bytes)),
                                   std::strerror(errno)));
  }
  base_ = static_cast<std::byte*>(mapped);
  madvise(base_, cap_bytes, MADV_DONTFORK);
  madvise(base_, cap_bytes, MADV_DONTDUMP);
}

ArenaView::ArenaView(ArenaView&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      cap_bytes_(std::exchange(other.cap_bytes_, 0)),
      process_(other.process_) {}

ArenaView& ArenaView::operator=(ArenaView&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(cap_bytes_, other.cap_bytes_);
  std::swap(process_, other.process_);
  return *this;
}

ArenaView::~ArenaView() {
  if (base_ != nullptr && process_ == getpid()) munmap(base_, cap_bytes_);
}

bool is_arena(int descriptor, const ArenaId& id, std::size_t cap_bytes) {
  ArenaHeader header;
  if (pread(descriptor, &header, sizeof header, 0) != sizeof header) return false;
  return header.magic == ArenaHeader::expected_magic && header.id == id &&
         header.cap_bytes == cap_bytes;
}

}  // namespace huddle::memory

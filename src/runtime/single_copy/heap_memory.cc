// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/single_copy/heap_memory.h"

namespace huddle::single_copy {

ErrorNumber HeapMemory::read(std::byte* to, RemoteAddress from, std::size_t bytes) noexcept {
  const std::byte* here = mapped(from);
  if (here == nullptr) return otherwise_->read(to, from, bytes);
  memory::copy_bytes(copying_.reads.of(bytes), to, here, bytes);
  return fine;
}

ErrorNumber HeapMemory::write(RemoteAddress to, const std::byte* from, std::size_t bytes) noexcept {
  std::byte* here = mapped(to);
  if (here == nullptr) return otherwise_->write(to, from, bytes);
  memory::copy_bytes(copying_.writes.of(bytes), here, from, bytes);
  return fine;
}

std::byte* HeapMemory::mapped(RemoteAddress told) const noexcept {
  return is_mapped(told) ? view_->base() + (address_of(told) - base_) : nullptr;
}

}  // namespace huddle::single_copy

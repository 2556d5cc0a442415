// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/single_copy/own_memory.h"

#include "runtime/memory/copy.h"

namespace huddle::single_copy {

ErrorNumber OwnMemory::read(std::byte* to, RemoteAddress from, std::size_t bytes) noexcept {
  memory::copy_bytes(memory::CopyKernel::plain, to, pointer_to(from), bytes);
  return fine;
}

ErrorNumber OwnMemory::write(RemoteAddress to, const std::byte* from, std::size_t bytes) noexcept {
  memory::copy_bytes(memory::CopyKernel::plain, pointer_to(to), from, bytes);
  return fine;
}

// As with any other peer, what was not told to be mapped is copied: both sides know it.
std::byte* OwnMemory::mapped(RemoteAddress told) const noexcept {
  return is_mapped(told) ? pointer_to(told) : nullptr;
}

}  // namespace huddle::single_copy

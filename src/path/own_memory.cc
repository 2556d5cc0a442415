// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "path/own_memory.h"

#include "memory/copy.h"

namespace huddle::path {

ErrorNumber OwnMemory::read(std::byte* to, Told from, std::size_t bytes) noexcept {
  memory::copy_bytes(memory::CopyKernel::plain, to, pointer_to(from), bytes);
  return fine;
}

ErrorNumber OwnMemory::write(Told to, const std::byte* from, std::size_t bytes) noexcept {
  memory::copy_bytes(memory::CopyKernel::plain, pointer_to(to), from, bytes);
  return fine;
}

// As with any other peer, what was not told to be mapped is copied: both sides know it.
std::byte* OwnMemory::mapped(Told told) const noexcept {
  return is_mapped(told) ? pointer_to(told) : nullptr;
}

}  // namespace huddle::path

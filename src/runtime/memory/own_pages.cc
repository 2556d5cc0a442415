// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/own_pages.h"

#include <sys/mman.h>

namespace huddle::memory {
namespace {

constexpr int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// NOLINTNEXTLINE(performance-no-int-to-ptr): pieces are told by their addresses here
void* address_of(Piece pages) { return reinterpret_cast<void*>(pages.offset); }

bool map(Piece pages, int protection, int flags, int file) {
  if (pages.bytes == 0) return true;
  void* const address = address_of(pages);
  void* const mapped = mmap(address, pages.bytes, protection, flags, file, 0);
  // Kernels before 4.17 take the address for a wish.
  if (mapped != MAP_FAILED && mapped != address) munmap(mapped, pages.bytes);
  return mapped == address;
}

}  // namespace

bool hold_addresses(Piece pages) noexcept {
  return map(pages, PROT_NONE, anonymous | MAP_FIXED_NOREPLACE, -1);
}

bool may_be_written(Piece pages) noexcept {
  return pages.bytes == 0 || mprotect(address_of(pages), pages.bytes, PROT_READ | PROT_WRITE) == 0;
}

bool map_own_view(Piece pages, int file) noexcept {
  return map(pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file);
}

bool drop_pages(Piece pages) noexcept { return map(pages, PROT_NONE, anonymous | MAP_FIXED, -1); }

bool remove_shared_pages(Piece pages) noexcept {
  return pages.bytes == 0 || madvise(address_of(pages), pages.bytes, MADV_REMOVE) == 0;
}

void leave_out_of_children(Piece pages) noexcept {
  madvise(address_of(pages), pages.bytes, MADV_DONTFORK);
}

bool forbid_pages(Piece pages) noexcept {
  return pages.bytes == 0 || mprotect(address_of(pages), pages.bytes, PROT_NONE) == 0;
}

}  // namespace huddle::memory

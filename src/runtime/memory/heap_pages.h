// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Page-level operations of the heap, and the layout of blocks in its checked mode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/memory/arena_space.h"

namespace huddle::memory {

// The functions below change the mappings of whole pages in this process. The offset of each Piece
// is an address. They allocate nothing, and return whether they succeeded.

// Reserves an unmapped address range, without access. Fails if part of it is mapped.
bool hold_addresses(Piece pages) noexcept;
// Makes pages readable and writable. Pages of a reserved range read as zeros until they are
// written.
bool may_be_written(Piece pages) noexcept;
// Atomically replaces the mapping of the pages with a private mapping of the file from its
// beginning.
bool map_own_view(Piece pages, int protection, int file) noexcept;
// Gives the process its own copy of each page of a private mapping of a file. Fails if a page may
// not be written, memory is exhausted, or the kernel is older than Linux 5.14. Other threads may
// use the pages meanwhile.
bool copy_from_file(Piece pages) noexcept;
// Returns the memory of the pages to the system, but keeps the addresses reserved. Has no effect if
// it fails.
bool drop_pages(Piece pages) noexcept;
// Returns the memory of pages of a shared mapping of a memfd or tmpfs file to the system; every
// process that maps them then reads zeros. Uses the address instead of the file descriptor, because
// the memory hooks of registration caches intercept only calls with addresses. Fails for locked
// pages, for example.
bool remove_shared_pages(Piece pages) noexcept;
// Excludes the pages from every child of fork(), even if the program has requested the opposite.
// Has no effect if the kernel refuses.
void leave_out_of_children(Piece pages) noexcept;
// Makes an access to the pages fault.
bool forbid_pages(Piece pages) noexcept;

// The layout of a block in checked mode. The block has pages of its own and ends at the end of the
// last one or, because of alignment, shortly before; an inaccessible guard page follows. An access
// beyond the block or after it is freed faults immediately or is reported when the block is freed.
struct CheckedBlock {
  std::size_t address = 0;
  std::size_t bytes = 0;  // the requested size

  // Returns the size of the pages that a block of `bytes` bytes needs, including the guard page.
  static std::size_t pages_for(std::size_t bytes);
  // Places a block at the end of these pages. Requires: they begin at a multiple of the alignment.
  static CheckedBlock at_end_of(Piece pages, std::size_t bytes, std::size_t alignment);

  // Returns all pages of the block, including the guard page.
  Piece pages() const;

  // Protects the guard page, unless the process has reached its limit of mappings. Fills the space
  // between the block and the guard page, and if `fill` the block itself, with a pattern that is
  // neither a plausible number nor a valid address.
  void arm(bool fill) const noexcept;
  // Returns whether the space between the block and the guard page is unchanged.
  bool is_intact() const noexcept;
};

// Print the error with the block or pages, and abort the program.
[[noreturn]] void report(std::string_view found, const CheckedBlock& block);
[[noreturn]] void report(std::string_view found, Piece pages);

}  // namespace huddle::memory

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
// is an address. They allocate nothing.

// Reserves an unmapped address range, without access. Returns false if part of it is mapped.
bool hold_addresses(Piece pages) noexcept;
// Allows access to a reserved range. Its pages are zero until they are written.
bool may_be_written(Piece pages) noexcept;
// Atomically replaces the mapping by a private one of the file, starting at the file's beginning.
bool map_own_view(Piece pages, int file) noexcept;
// Returns the memory of the pages, keeps the addresses. Returns false, with no effect, on failure.
bool drop_pages(Piece pages) noexcept;
// Returns the memory of pages that are mapped shared from a file in memory; every process that maps
// them then reads zeros. Works on the address instead of the descriptor, because that is what the
// memory hooks of registration caches intercept. Returns false if it fails, as for locked pages.
bool remove_shared_pages(Piece pages) noexcept;
// Makes the kernel leave these pages out of every child, even if the program has requested the
// opposite. Has no effect if the kernel refuses.
void leave_out_of_children(Piece pages) noexcept;
// Makes an access to the pages fault.
bool forbid_pages(Piece pages) noexcept;

// The layout of a block in checked mode: on pages of its own, ending at the end of its last page
// or, because of alignment, shortly before it, followed by an inaccessible guard page. An access
// beyond the block or after it is freed faults immediately or is reported when the block is freed.
struct CheckedBlock {
  std::size_t address = 0;
  std::size_t bytes = 0;  // the requested size

  // Returns the bytes of whole pages that it needs, including the guard page.
  static std::size_t pages_for(std::size_t bytes);
  // Places a block at the end of these pages. Requires: they begin at a multiple of the alignment.
  static CheckedBlock at_end_of(Piece pages, std::size_t bytes, std::size_t alignment);

  // Returns all pages of the block, including the guard page.
  Piece pages() const;

  // Protects the guard page, if the process has mappings left for that. Fills the space between the
  // block and the guard page, and the block itself if `fill`, with a pattern that is no useful
  // number or address.
  void arm(bool fill) const noexcept;
  // Returns whether the space between the block and the guard page is unchanged.
  bool is_intact() const noexcept;
};

// Print the error with the block or pages, and abort the program.
[[noreturn]] void report(std::string_view found, const CheckedBlock& block);
[[noreturn]] void report(std::string_view found, Piece pages);

}  // namespace huddle::memory

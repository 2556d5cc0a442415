// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/memory/arena_space.h"

namespace huddle::memory {

// Pages of one process in a range of addresses that it holds: what becomes of shared ones. A piece
// is told by its address, in whole pages. Nothing here allocates.

// Takes a range where nothing is mapped, so that nobody else does; it cannot be touched. False
// where something is there.
bool hold_addresses(Piece pages) noexcept;
// Zero until somebody writes. pre: held.
bool may_be_written(Piece pages) noexcept;
// What the file has there from its beginning on, and what is written is this process's own; in the
// place of whatever was mapped there, at once.
bool map_own_view(Piece pages, int file) noexcept;
// Their memory goes back, the addresses stay held. False where that fails: they are as they were.
bool drop_pages(Piece pages) noexcept;
// The same of pages that are mapped from a file in memory and shared: whoever has them mapped finds
// zeros. By an address, and not in the file by its descriptor, since that is what the hooks of
// those who register memory with a network's adapter see. False where the system cannot: of pages
// that are locked, say.
bool remove_shared_pages(Piece pages) noexcept;
// Makes the kernel leave these pages out of every child, even if the program has requested the
// opposite. Has no effect if the kernel refuses.
void leave_out_of_children(Piece pages) noexcept;
// A touch of them ends the program.
bool forbid_pages(Piece pages) noexcept;

// How a heap that looks for errors lays out a block: on pages of its own, ending where they end,
// with a page behind it that nobody may touch. Who writes beyond a block, or uses one that is not
// its own any more, is stopped there and then.
struct CheckedBlock {
  std::size_t address = 0;
  std::size_t bytes = 0;  // that were asked for

  // How many bytes of whole pages it takes, the one behind it included.
  static std::size_t pages_for(std::size_t bytes);
  // The last that such pages hold. pre: they begin at a multiple of the alignment.
  static CheckedBlock at_end_of(Piece pages, std::size_t bytes, std::size_t alignment);

  // All that it takes.
  Piece pages() const;

  // Makes the page behind it one that nobody may touch, where the system has mappings left for
  // that; and fills what alignment leaves between the two, and the block if it may hold anything,
  // with bytes that are no good as numbers or addresses.
  void arm(bool fill) const noexcept;
  // Nobody has written between its end and the page behind it.
  bool is_intact() const noexcept;
};

// Says what was found, with the block, and ends the program.
[[noreturn]] void report(std::string_view found, const CheckedBlock& block);
[[noreturn]] void report(std::string_view found, Piece pages);

}  // namespace huddle::memory

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Pages of one process in a range of addresses that it holds: what becomes of shared ones. A piece
// is told by its address, in whole pages. Nothing here allocates.
#pragma once

#include "runtime/memory/arena_space.h"

namespace huddle::memory {

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

}  // namespace huddle::memory

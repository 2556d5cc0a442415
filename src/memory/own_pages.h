// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Pages of one process in a range of addresses that it holds: what becomes of shared ones. A piece
// is told by its address, in whole pages. Nothing here allocates.
#pragma once

#include "memory/arena_space.h"

namespace huddle::memory {

// Takes a range where nothing is mapped, so that nobody else does; it cannot be touched. False
// where something is there.
bool hold_addresses(Piece pages) noexcept;
// Zero until somebody writes. pre: held.
bool may_be_written(Piece pages) noexcept;
// What the file has there from its beginning on, and what is written is this process's own; in the
// place of whatever was mapped there, at once.
bool map_own_view(Piece pages, int file) noexcept;
// Their memory goes back, the addresses stay held. Where that fails they are as they were.
void drop_pages(Piece pages) noexcept;

}  // namespace huddle::memory

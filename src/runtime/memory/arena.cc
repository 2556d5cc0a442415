// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/memory/arena.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "common/error.h"
#include "common/round_up.h"
#include "common/text.h"
#include "runtime/memory/numa.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::memory {
namespace {

using Backing = ArenaSpace::Backing;

// The kernel is asked for so much at once, so that small teams rarely have to ask it.
constexpr std::size_t growth_bytes = std::size_t{64} << 10;
// So much free memory is kept for the next team; more than that goes back to the system, unless it
// is in scraps that are not worth a system call.
constexpr std::size_t most_kept_bytes = std::size_t{8} << 20;
constexpr std::size_t least_returned_bytes = std::size_t{256} << 10;

std::size_t arena_cap(std::size_t cap_bytes) {
  if (cap_bytes >= page_bytes()) return round_down(cap_bytes, page_bytes());
  throw InputError(
      fmt::format("the cap of the shared memory is {} bytes: give it one page, {}, "
                  "or more",
                  cap_bytes, page_bytes()));
}

}  // namespace

Arena::Arena(const ArenaOptions& options)
    : file_(options.kind, options.folder),
      view_(file_.descriptor(), arena_cap(options.cap_bytes)),
      id_(ArenaId::random()) {
  space_.give(Backing::none, {0, cap_bytes()});
  const Piece first = take_pages(page_bytes(), page_bytes());
  new (base()) ArenaHeader{ArenaHeader::expected_magic, cap_bytes(), id_};
  space_.give(Backing::memory, {arena_header_bytes, first.bytes - arena_header_bytes});
}

Piece Arena::allocate(std::size_t bytes, std::size_t alignment) {
  const std::scoped_lock lock(mutex_);
  if (bytes > cap_bytes()) bytes = cap_bytes();  // and so more than there is, without overflow
  bytes = round_up(std::max<std::size_t>(bytes, 1), least_alignment);
  alignment = std::max(alignment, least_alignment);
  if (const auto piece = space_.take(Backing::memory, bytes, alignment)) return *piece;
  const Piece pages = take_pages(round_up(bytes, page_bytes()), std::max(alignment, page_bytes()));
  try {
    if (pages.bytes > bytes) {
      space_.give(Backing::memory, {pages.offset + bytes, pages.bytes - bytes});
    }
  } catch (...) {
    unreserve(pages);
    space_.give(Backing::none, pages);
    throw;
  }
  return {pages.offset, bytes};
}

// New memory, with more than was asked for where there is room.
Piece Arena::take_pages(std::size_t bytes, std::size_t alignment) {
  auto pages = space_.take(Backing::none, std::max(bytes, growth_bytes), alignment);
  if (!pages) pages = space_.take(Backing::none, bytes, alignment);
  if (!pages) {
    // Free parts that have memory may stand between others that have none: without it they are one.
    for (const Piece part : space_.parts(Backing::memory)) give_back_pages_of(part);
    pages = space_.take(Backing::none, bytes, alignment);
  }
  if (!pages) {
    throw FailureError(fmt::format("the cap of the shared memory, {}, leaves no {}; raise it",
                                   size_text(static_cast<double>(cap_bytes())),
                                   size_text(static_cast<double>(bytes))));
  }
  try {
    reserve(*pages);
  } catch (...) {
    space_.give(Backing::none, *pages);
    throw;
  }
  return *pages;
}

// Where there is no memory to note that it is free, it stays as it is: whoever lets go of something
// is often on the way out of some other trouble.
void Arena::free(Piece piece) {
  if (piece.bytes == 0) return;
  const std::scoped_lock lock(mutex_);
  try {
    const Piece part = space_.give(Backing::memory, piece);
    if (part.bytes >= least_returned_bytes &&
        space_.free_bytes(Backing::memory) > most_kept_bytes) {
      give_back_pages_of(part);
    }
  } catch (const std::bad_alloc&) {
    return;
  }
}

// pre: the part is free and has memory.
void Arena::give_back_pages_of(Piece part) {
  const Piece pages = whole_pages_of(part);
  if (pages.bytes == 0 || !file_.is_there()) return;
  space_.take_exactly(Backing::memory, pages);
  unreserve(pages);
  space_.give(Backing::none, pages);
}

void Arena::reserve(Piece pages) {
  file_.reserve(pages);
  reserved_bytes_ += pages.bytes;
}

void Arena::unreserve(Piece pages) {
  file_.give_back(pages);
  reserved_bytes_ -= pages.bytes;
}

std::size_t Arena::used_bytes() const {
  const std::scoped_lock lock(mutex_);
  return reserved_bytes_ - space_.free_bytes(Backing::memory) - arena_header_bytes;
}

std::size_t Arena::reserved_bytes() const {
  const std::scoped_lock lock(mutex_);
  return reserved_bytes_;
}

}  // namespace huddle::memory

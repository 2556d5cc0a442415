// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory that a process shares with the others of its machine: one file without a name, that
// grows as teams take pieces of it and never moves. Only its owner takes and frees; peers map it.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "runtime/memory/arena_file.h"
#include "runtime/memory/arena_space.h"
#include "runtime/memory/arena_view.h"

namespace huddle::memory {

struct ArenaOptions {
  std::size_t cap_bytes = 0;  // the most it may ever hold; costs addresses, not memory
  ArenaFile::Kind kind = ArenaFile::Kind::memfd_first;
  std::string folder = "/dev/shm";
};

// May be used by several threads at once.
class Arena {
 public:
  // Pieces begin on their own pair of lines: neighbours of different teams never share what the
  // processor fetches together.
  static constexpr std::size_t least_alignment = 128;

  // Throws FailureError, InputError where the cap is below one page.
  explicit Arena(const ArenaOptions& options);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // A piece with memory behind it: to use it never fails. New memory is placed on the NUMA node of
  // the calling thread; what it holds is not said. Throws FailureError where the cap, the machine
  // or a limit is reached. pre: alignment is a power of two.
  Piece allocate(std::size_t bytes, std::size_t alignment = least_alignment);
  // pre: the whole of a piece that was allocated here, which nobody uses any more.
  void free(Piece piece);

  std::byte* data(Piece piece) const { return view_.base() + piece.offset; }
  std::byte* base() const { return view_.base(); }
  const ArenaId& id() const { return id_; }
  std::size_t cap_bytes() const { return view_.cap_bytes(); }
  int descriptor() const { return file_.descriptor(); }

  std::size_t used_bytes() const;      // in pieces
  std::size_t reserved_bytes() const;  // what it takes of the machine

 private:
  Piece take_pages(std::size_t bytes, std::size_t alignment);
  void reserve(Piece pages);
  void unreserve(Piece pages);
  void give_back_pages_of(Piece part);

  ArenaFile file_;
  ArenaView view_;
  ArenaId id_;
  mutable std::mutex mutex_;  // guards what follows
  ArenaSpace space_;
  std::size_t reserved_bytes_ = 0;
};

}  // namespace huddle::memory

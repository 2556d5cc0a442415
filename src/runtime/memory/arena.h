// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory that a process shares with the others of its machine: one file without a name, that
// grows as teams take pieces of it and never moves. Only its owner takes and frees; peers map it.
#pragma once

#include <sys/types.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "common/file.h"
#include "runtime/memory/arena_space.h"

namespace huddle::memory {

// An arena as a range of addresses: how it is recognised and mapped, by its owner and by others.

// Random, so that no two arenas ever have the same.
struct ArenaId {
  std::array<std::uint64_t, 2> words{};

  static ArenaId random();  // throws FailureError
  auto operator<=>(const ArenaId&) const = default;
};

// What an arena begins with.
struct ArenaHeader {
  std::uint64_t magic = 0;
  std::uint64_t cap_bytes = 0;
  ArenaId id;

  static constexpr std::uint64_t expected_magic = 0x0001656C64647568;  // "huddle", version 1
};
// The rest of the first page is memory like any other.
inline constexpr std::size_t arena_header_bytes = 128;
static_assert(sizeof(ArenaHeader) <= arena_header_bytes);

class ArenaView {
 public:
  ArenaView() = default;
  // Maps all that the file can ever hold, so that it never moves. No child gets it by fork, no core
  // dump walks through it. Throws FailureError. The descriptor is not needed afterwards.
  ArenaView(int descriptor, std::size_t cap_bytes);
  ArenaView(ArenaView&& other) noexcept;
  ArenaView& operator=(ArenaView&& other) noexcept;
  ~ArenaView();

  std::byte* base() const { return base_; }
  std::size_t cap_bytes() const { return cap_bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t cap_bytes_ = 0;
  int process_ = 0;  // a child of fork has the object but not the mapping
};

// Whether the file is that arena. Reads it without mapping it: whatever file it is, no harm is
// done.
bool is_arena(int descriptor, const ArenaId& id, std::size_t cap_bytes);

// The file behind an arena. It never has a name: when the last process that has it open or mapped
// is gone, however it went, so is the file.
class ArenaFile {
 public:
  enum class Kind {
    memfd_first,  // kernel memory; where that is refused, in the folder
    memfd,        // kernel memory or nothing: no quota of a file system ends it in mid-use
    in_folder,    // a file without a name on the tmpfs at `folder`
  };
  // Throws FailureError.
  ArenaFile(Kind kind, const std::string& folder);
  ~ArenaFile() { close(); }
  ArenaFile(const ArenaFile&) = delete;
  ArenaFile& operator=(const ArenaFile&) = delete;

  // A program may have closed what it does not know, and have a file of its own by that number:
  // then this is false, and that file is left alone.
  bool is_there() const;

  int descriptor() const { return descriptor_.number(); }
  // What it takes of the machine.
  std::size_t memory_bytes() const;
  // This process has no more to do with it.
  void close();

  // Makes the file so long, with no memory behind it: pages come when they are touched. Returns
  // `bytes`. Throws FailureError.
  std::size_t extend(std::size_t bytes) const;

  // Gives these pages memory, now, by the memory policy of the calling thread: its own NUMA node,
  // if it has asked for nothing else. Throws FailureError, and nothing has changed, where the
  // memory, or the file, is not there. pre: whole pages.
  void reserve(Piece pages) const;
  // The memory of these pages goes back to the system. pre: whole pages.
  void give_back(Piece pages) const;

 private:
  FileDescriptor descriptor_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::string place_ = "the machine";  // for messages
};

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

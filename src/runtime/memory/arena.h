// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The memory that a process shares with the other ranks of its node: one unnamed file, which grows
// as teams allocate pieces of it. Its mapping never moves. Only the owner allocates pieces; peers
// map the file.
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

// Identifies an arena. Random, so that no two arenas have the same ID.
struct ArenaId {
  std::array<std::uint64_t, 2> words{};

  static ArenaId random();  // throws FailureError
  auto operator<=>(const ArenaId&) const = default;
};

// Lies at the beginning of the file and identifies it as an arena.
struct ArenaHeader {
  std::uint64_t magic = 0;
  std::uint64_t cap_bytes = 0;
  ArenaId id;

  static constexpr std::uint64_t expected_magic = 0x0001656C64647568;  // "huddle", version 1
};
// Bytes reserved for the header. The rest of the first page is allocated like other memory.
inline constexpr std::size_t arena_header_bytes = 128;
static_assert(sizeof(ArenaHeader) <= arena_header_bytes);

// The mapping of an arena, in its owner or in a peer.
class ArenaView {
 public:
  ArenaView() = default;
  // Maps `cap_bytes` bytes, the maximum size of the file, so that the mapping never moves. Children
  // and core dumps do not include the mapping. The descriptor may be closed afterwards. Throws
  // FailureError.
  ArenaView(int descriptor, std::size_t cap_bytes);
  ArenaView(ArenaView&& other) noexcept;
  ArenaView& operator=(ArenaView&& other) noexcept;
  ~ArenaView();

  std::byte* base() const { return base_; }
  std::size_t cap_bytes() const { return cap_bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t cap_bytes_ = 0;
  int process_ = 0;  // the process that mapped it; its children have only the object
};

// Returns whether the file is the arena with this ID and maximum size. Reads the file instead of
// mapping it, so that any descriptor may be passed.
bool is_arena(int descriptor, const ArenaId& id, std::size_t cap_bytes);

// The file of an arena. It has no name, so it disappears, even after a crash, when the last process
// that has it open or mapped ends.
class ArenaFile {
 public:
  enum class Kind {
    memfd_first,  // a memfd or, if that is not allowed, a file in the folder
    memfd,        // only a memfd, which no file system quota limits
    in_folder,    // an unnamed file on the tmpfs at `folder`
  };
  // Throws FailureError.
  ArenaFile(Kind kind, const std::string& folder);
  ~ArenaFile() { close(); }
  ArenaFile(const ArenaFile&) = delete;
  ArenaFile& operator=(const ArenaFile&) = delete;

  // Returns whether the descriptor still refers to this file. A program that closes descriptors
  // that it did not open may have closed it, and another file may have its number; that file must
  // not be touched.
  bool is_there() const;

  int descriptor() const { return descriptor_.number(); }
  // Returns the memory that the file occupies.
  std::size_t memory_bytes() const;
  // Closes the descriptor; mappings stay.
  void close();

  // Sets the size of the file without allocating memory: pages are allocated when they are first
  // touched. Returns `bytes`. Throws FailureError.
  std::size_t extend(std::size_t bytes) const;

  // Allocates memory for these pages now, according to the memory policy of the calling thread: by
  // default on its own NUMA node. Throws FailureError, with no effect, if memory is short or the
  // file is closed.
  // Requires: whole pages.
  void reserve(Piece pages) const;
  // Returns the memory of these pages to the system. Requires: whole pages.
  void return_to_system(Piece pages) const;

 private:
  FileDescriptor descriptor_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::string place_ = "the machine";  // for messages
};

struct ArenaOptions {
  std::size_t cap_bytes = 0;  // maximum size; reserves address space, not memory
  ArenaFile::Kind kind = ArenaFile::Kind::memfd_first;
  std::string folder = "/dev/shm";
};

// Allocates pieces of the shared memory of this process. Thread-safe.
class Arena {
 public:
  // Pieces are aligned to pairs of cache lines, because the adjacent-line prefetcher fetches both
  // lines of a pair. Data of different teams never shares a pair.
  static constexpr std::size_t least_alignment = 128;

  // Throws FailureError, or InputError if the cap is below one page.
  explicit Arena(const ArenaOptions& options);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Allocates a piece whose memory is reserved, so that using it cannot fail. New memory is placed
  // on the NUMA node of the calling thread; the content is undefined. Throws FailureError if the
  // cap, the machine's memory or a limit is exhausted.
  // Requires: alignment is a power of two.
  Piece allocate(std::size_t bytes, std::size_t alignment = least_alignment);
  // Requires: a whole piece that was allocated here and is no longer in use.
  void free(Piece piece);

  std::byte* data(Piece piece) const { return view_.base() + piece.offset; }
  std::byte* base() const { return view_.base(); }
  const ArenaId& id() const { return id_; }
  std::size_t cap_bytes() const { return view_.cap_bytes(); }
  int descriptor() const { return file_.descriptor(); }

  std::size_t used_bytes() const;      // allocated in pieces
  std::size_t reserved_bytes() const;  // memory that the file occupies

 private:
  Piece take_pages(std::size_t bytes, std::size_t alignment);
  void reserve(Piece pages);
  void unreserve(Piece pages);
  void return_pages_of(Piece part);

  ArenaFile file_;
  ArenaView view_;
  ArenaId id_;
  mutable std::mutex mutex_;  // guards the members below
  ArenaSpace space_;
  std::size_t reserved_bytes_ = 0;
};

}  // namespace huddle::memory

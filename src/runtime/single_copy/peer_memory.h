// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Single-copy paths: they copy data directly from or to the memory of another process, instead of
// twice through shared memory. This file declares their interface and their table. The processes
// that will use a path test it first.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::single_copy {

// An errno value, or `fine` for success.
using ErrorNumber = int;
inline constexpr ErrorNumber fine = 0;

// The address of exposed memory as a rank publishes it to its peers: the address in its owner, with
// mapped_bit set if peers may map that memory. Linux reserves addresses with that bit for the
// kernel.
using RemoteAddress = std::uint64_t;
inline constexpr RemoteAddress mapped_bit = RemoteAddress{1} << 63;
constexpr std::uint64_t address_of(RemoteAddress told) { return told & ~mapped_bit; }
constexpr bool is_mapped(RemoteAddress told) { return (told & mapped_bit) != 0; }
// Returns the address as a pointer. It is valid only in the owner, and in system calls that access
// the owner's memory.
inline std::byte* pointer_to(RemoteAddress told) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer in its owner
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address_of(told)));
}

// The memory of one process as this process accesses it. Not thread-safe.
class PeerMemory {
 public:
  PeerMemory() = default;
  virtual ~PeerMemory() = default;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  // Copy `bytes` bytes from or to the peer's memory. On failure, some of the bytes may have been
  // copied. They do not throw, because a rank must inform its team before it reports an error.
  [[nodiscard]] virtual ErrorNumber read(std::byte* to, RemoteAddress from,
                                         std::size_t bytes) noexcept = 0;
  [[nodiscard]] virtual ErrorNumber write(RemoteAddress to, const std::byte* from,
                                          std::size_t bytes) noexcept = 0;
  // Returns the address at which this process can load and store that memory, or null if the memory
  // can only be accessed with read() and write().
  [[nodiscard]] virtual std::byte* mapped(RemoteAddress) const noexcept { return nullptr; }
};

// A word that a process exposes so that peers can test a path, and its address in that process.
struct Proof {
  std::uint64_t address = 0;
  std::uint64_t word = 0;
};

// Returns why the memory cannot be read; empty if the exposed word was read.
std::string reading_refusal(PeerMemory& memory, const Proof& proof);
// Returns why the memory cannot be written; empty if the word arrived.
// Requires: it can be read, which shows that it is the memory of the expected process.
std::string writing_refusal(PeerMemory& memory, const Proof& proof);

// Returns the system's message for the error.
std::string text_of(ErrorNumber error);

// The memory of this process, for ranks that are its threads. Uses plain copies, which race
// detectors can follow.
class OwnMemory : public PeerMemory {
 public:
  [[nodiscard]] ErrorNumber read(std::byte* to, RemoteAddress from,
                                 std::size_t bytes) noexcept override;
  [[nodiscard]] ErrorNumber write(RemoteAddress to, const std::byte* from,
                                  std::size_t bytes) noexcept override;
  [[nodiscard]] std::byte* mapped(RemoteAddress told) const noexcept override;
};

// Used instead of a descriptor if the process ID cannot be reused: for a child that has not been
// waited for.
inline constexpr int unwatched = -1;

// The process that owns the memory, and its rank.
struct Owner {
  int rank = 0;
  pid_t process = 0;
  int watch = unwatched;  // its descriptor; must stay open while the memory is in use
  bool is_this_process = false;
};

// Describes a path that copies a block once. This descriptor contains everything about a path, and
// peer_paths() returns all descriptors: `huddle calibrate` measures the cost of each path, the cost
// model uses it, and ranks test each path before its first use. A path is used if it works between
// all ranks. Nothing else in the runtime depends on a specific path.
//
// Memory that a peer has mapped (heap_memory.h) is not such a path: loads and stores need no system
// call, and cost the same as any other copy of cache lines.
struct PeerPath {
  // Opens the owner's memory. Does not check whether the path works and is permitted:
  // reading_refusal() and writing_refusal() do.
  // Requires: the memory belongs to another process.
  using Open = std::function<std::unique_ptr<PeerMemory>(const Owner& owner)>;

  // The strings outlive the descriptor.
  std::string_view name;   // the name in machine files
  std::string_view call;   // the system call that reads: "process_vm_readv"
  std::string_view needs;  // for users: the circumstances in which it is permitted
  Open open;
};

// Index into the table of paths. Unlike a pointer, it means the same in every process, so plans can
// contain it.
using PathNumber = std::uint8_t;
using PeerPaths = std::vector<PeerPath>;

// Returns all paths. A new path is added here. If several paths have the same cost, the first is
// used.
PeerPaths peer_paths();

// Opens the memory by that path, or directly if it belongs to this process.
std::unique_ptr<PeerMemory> open(const PeerPath& path, const Owner& owner);

}  // namespace huddle::single_copy

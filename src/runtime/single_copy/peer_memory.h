// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Access to the memory of another process, which copies data once instead of through shared memory.
// The interface of all such paths and the table of them. A path is tested by the processes that
// will use it.
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
// Valid in the owner, or for the kernel on its behalf.
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

  // Copy from and to the peer's memory. On failure, some of the bytes may have been copied. They do
  // not throw, because a rank must inform its team before it reports an error.
  [[nodiscard]] virtual ErrorNumber read(std::byte* to, RemoteAddress from,
                                         std::size_t bytes) noexcept = 0;
  [[nodiscard]] virtual ErrorNumber write(RemoteAddress to, const std::byte* from,
                                          std::size_t bytes) noexcept = 0;
  // Returns where this process can load and store that memory, or null if it must be copied.
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

// Replaces a pidfd if the process certainly exists: a child that has not been waited for.
inline constexpr int unwatched = -1;

// The process that owns the memory, and its rank.
struct Owner {
  int rank = 0;
  pid_t process = 0;
  int watch = unwatched;  // its pidfd, which stays open while its memory is in use
  bool is_this_process = false;
};

// A path that copies a block once. Everything about a path is in its descriptor, and peer_paths()
// is the table of descriptors: huddle calibrate measures its cost under its name, the cost model
// uses that, ranks test it before its first use, and it is used if it works between all. No other
// code names a path.
//
// Memory that a peer has mapped (heap_memory.h) is not such a path: loads and stores need no system
// call, and cost the same as any other copy of cache lines.
struct PeerPath {
  // Does not check whether the path works: reading_refusal and writing_refusal do. A path that is
  // not permitted fails then. Requires: the memory belongs to another process.
  using Open = std::function<std::unique_ptr<PeerMemory>(const Owner& owner)>;

  // The strings outlive the descriptor.
  std::string_view name;   // the name in machine files
  std::string_view call;   // the system call that reads: "process_vm_readv"
  std::string_view needs;  // for users: the circumstances in which it is permitted
  Open open;
};

// Index in the table of paths. A number, so that plans mean the same in every process.
using PathNumber = std::uint8_t;
using PeerPaths = std::vector<PeerPath>;

// Returns the paths that huddle has; a new one is one line here. At equal cost, the first is used.
PeerPaths peer_paths();

// Opens the memory by that path, or directly if it belongs to this process.
std::unique_ptr<PeerMemory> open(const PeerPath& path, const Owner& owner);

}  // namespace huddle::single_copy

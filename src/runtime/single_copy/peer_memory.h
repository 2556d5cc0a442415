// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A path into another process's memory: bytes come from there, or go there, without being copied
// into shared memory first. One contract for all paths (peer_path.h); each proves itself between
// the two processes that will use it.
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

// What the system said: an errno, or fine.
using ErrorNumber = int;
inline constexpr ErrorNumber fine = 0;

// Where something lies, as a rank tells its peers: its own address of it, with this bit where they
// may map what lies there. The system keeps addresses with that bit to itself.
using RemoteAddress = std::uint64_t;
inline constexpr RemoteAddress mapped_bit = RemoteAddress{1} << 63;
constexpr std::uint64_t address_of(RemoteAddress told) { return told & ~mapped_bit; }
constexpr bool is_mapped(RemoteAddress told) { return (told & mapped_bit) != 0; }
// For whoever has it at that address: its owner, and the kernel on its owner's behalf.
inline std::byte* pointer_to(RemoteAddress told) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer before it was told
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address_of(told)));
}

// One process's memory as this process reaches it. For one thread at a time.
class PeerMemory {
 public:
  PeerMemory() = default;
  virtual ~PeerMemory() = default;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  // Both copy between here and what lies over there. Where it fails some of the bytes may have been
  // copied. Throw nothing: whoever copies for a team has to tell the others first.
  [[nodiscard]] virtual ErrorNumber read(std::byte* to, RemoteAddress from,
                                         std::size_t bytes) noexcept = 0;
  [[nodiscard]] virtual ErrorNumber write(RemoteAddress to, const std::byte* from,
                                          std::size_t bytes) noexcept = 0;
  // Where the same lies for this process, to be read and written like its own; null where it has to
  // be copied.
  [[nodiscard]] virtual std::byte* mapped(RemoteAddress) const noexcept { return nullptr; }
};

// A word that a process shows, and where it lies there.
struct Proof {
  std::uint64_t address = 0;
  std::uint64_t word = 0;
};

// Why that memory cannot be read; empty where the word came as it was shown.
std::string reading_refusal(PeerMemory& memory, const Proof& proof);
// Why it cannot be written to; empty where the word is there afterwards.
// pre: it can be read, so that it is known whose memory it is.
std::string writing_refusal(PeerMemory& memory, const Proof& proof);

// The system's words for it.
std::string text_of(ErrorNumber error);

// The memory of this very process, for ranks that are its threads. Plain copies, that tools which
// look for races see as such.
class OwnMemory : public PeerMemory {
 public:
  [[nodiscard]] ErrorNumber read(std::byte* to, RemoteAddress from,
                                 std::size_t bytes) noexcept override;
  [[nodiscard]] ErrorNumber write(RemoteAddress to, const std::byte* from,
                                  std::size_t bytes) noexcept override;
  [[nodiscard]] std::byte* mapped(RemoteAddress told) const noexcept override;
};

// The paths into a peer's memory, by which a block is copied once: all that there is to know of one
// stands in its descriptor, and the descriptors in a table. What it costs is measured under its
// name (huddle calibrate), prices are made of that, ranks try it when they are to use it for the
// first time, and it is used where it works between all of them; nothing else names a path.
//
// What a peer has mapped (heap_memory.h) is none of them: whoever can load and store there needs
// nobody's help, and it costs what any copy of lines costs.

// In place of a pidfd, where the process is sure to be there: a child that nobody has waited for.
inline constexpr int unwatched = -1;

// Whose memory it is.
struct Owner {
  int rank = 0;
  pid_t process = 0;
  int watch = unwatched;  // a pidfd of it, which stays open as long as its memory is used
  bool is_this_process = false;
};

struct PeerPath {
  // Whether it works is found out by trying (reading_refusal and writing_refusal): what fails,
  // fails then. pre: it is another process's memory.
  using Open = std::function<std::unique_ptr<PeerMemory>(const Owner& owner)>;

  // All words outlive the descriptor.
  std::string_view name;   // in machine files
  std::string_view call;   // by which the system is asked to read: "process_vm_readv"
  std::string_view needs;  // for people: where that is allowed
  Open open;
};

// A path of a table. A number, so that a plan which holds it means the same in every process.
using PathNumber = std::uint8_t;
using PeerPaths = std::vector<PeerPath>;

// Those that huddle has: a new one is one line here. Of several that cost the same the first is
// taken.
PeerPaths peer_paths();

// By that path, or, where it is this process's own, as it is.
std::unique_ptr<PeerMemory> open(const PeerPath& path, const Owner& owner);

}  // namespace huddle::single_copy

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A path into another process's memory: bytes come from there, or go there, without being copied
// into shared memory first. One contract for all paths (peer_path.h); each proves itself between
// the two processes that will use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

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

}  // namespace huddle::single_copy

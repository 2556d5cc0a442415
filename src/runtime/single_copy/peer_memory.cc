// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/single_copy/peer_memory.h"

#include <system_error>

#include "runtime/memory/copy.h"
#include "runtime/single_copy/cma.h"

namespace huddle::single_copy {

std::string reading_refusal(PeerMemory& memory, const Proof& proof) {
  std::uint64_t seen = ~proof.word;
  const ErrorNumber error =
      memory.read(reinterpret_cast<std::byte*>(&seen), proof.address, sizeof seen);
  if (error != fine) return text_of(error);
  // If the peer is in another PID namespace, its ID belongs to another process here.
  if (seen != proof.word) return "what was read is not what the process shows";
  return {};
}

std::string writing_refusal(PeerMemory& memory, const Proof& proof) {
  const ErrorNumber error = memory.write(
      proof.address, reinterpret_cast<const std::byte*>(&proof.word), sizeof proof.word);
  return error == fine ? reading_refusal(memory, proof) : text_of(error);
}

std::string text_of(ErrorNumber error) { return std::generic_category().message(error); }

ErrorNumber OwnMemory::read(std::byte* to, RemoteAddress from, std::size_t bytes) noexcept {
  memory::copy_bytes(memory::CopyKernel::plain, to, pointer_to(from), bytes);
  return fine;
}

ErrorNumber OwnMemory::write(RemoteAddress to, const std::byte* from, std::size_t bytes) noexcept {
  memory::copy_bytes(memory::CopyKernel::plain, pointer_to(to), from, bytes);
  return fine;
}

// Memory without mapped_bit is copied, as from any other peer, because both sides expect that.
std::byte* OwnMemory::mapped(RemoteAddress told) const noexcept {
  return is_mapped(told) ? pointer_to(told) : nullptr;
}

PeerPaths peer_paths() { return {cma()}; }

std::unique_ptr<PeerMemory> open(const PeerPath& path, const Owner& owner) {
  if (owner.is_this_process) return std::make_unique<OwnMemory>();
  return path.open(owner);
}

}  // namespace huddle::single_copy

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/single_copy/peer_memory.h"

#include <system_error>

namespace huddle::single_copy {

std::string reading_refusal(PeerMemory& memory, const Proof& proof) {
  std::uint64_t seen = ~proof.word;
  const ErrorNumber error =
      memory.read(reinterpret_cast<std::byte*>(&seen), proof.address, sizeof seen);
  if (error != fine) return text_of(error);
  // Process ids mean something else in another namespace: it may have been anybody's memory.
  if (seen != proof.word) return "what was read is not what the process shows";
  return {};
}

std::string writing_refusal(PeerMemory& memory, const Proof& proof) {
  const ErrorNumber error = memory.write(
      proof.address, reinterpret_cast<const std::byte*>(&proof.word), sizeof proof.word);
  return error == fine ? reading_refusal(memory, proof) : text_of(error);
}

std::string text_of(ErrorNumber error) { return std::generic_category().message(error); }

}  // namespace huddle::single_copy

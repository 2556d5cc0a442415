// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Where flags and payloads of a protocol lie in its piece of shared memory.
#pragma once

#include <cstddef>

#include "common/arithmetic.h"
#include "runtime/context/context.h"
#include "runtime/context/sequence.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/blocks.h"

namespace huddle::node {

using context::Address;
using context::Region;

// Where a flag lies that a protocol keeps for later: what it is made of, and no more to look at.
struct FlagAddress {
  int owner = 0;
  std::size_t offset = 0;

  constexpr operator Address() const { return {Region::shared, owner, offset}; }
};

inline constexpr std::size_t line_bytes = 64;
// Things of different writers lie so far apart: many processors fetch lines in pairs.
inline constexpr std::size_t apart_bytes = 128;
inline constexpr std::size_t flag_bytes = 4;
// A payload that rides in its flag's line begins here: no type of C wants more alignment.
inline constexpr std::size_t payload_offset = 16;
inline constexpr std::size_t most_in_line = line_bytes - payload_offset;
constexpr bool fits_behind_flag(std::size_t bytes) { return bytes <= most_in_line; }
inline constexpr std::size_t page_bytes = 4096;

// Where the payload of a slot begins: behind the flag where both fit into one line; else on the
// next line, aligned for whoever reads it in long words. The same for all calls that use a slot
// alike.
constexpr std::size_t payload_at(std::size_t bytes) {
  return fits_behind_flag(bytes) ? payload_offset : line_bytes;
}
// Room for a slot with a payload of so many bytes, whatever its neighbours hold.
constexpr std::size_t slot_bytes(std::size_t payload_bytes) {
  return round_up(payload_at(payload_bytes) + payload_bytes, apart_bytes);
}

// In whose memory a block lies that `writer` passes to `reader` in one of so many places that are
// used in turn, a power of two: in the writer's, but where lines return in the one's and the
// other's, a round of all places each.
constexpr int holder_of(memory::LineOwnership lines, int writer, int reader, context::Sequence use,
                        context::Sequence places) {
  const bool is_in_readers = lines == memory::LineOwnership::ping_pong && use / places % 2 == 1;
  return is_in_readers ? reader : writer;
}

// Deals out a protocol's shared memory, piece by piece; the same on every rank.
class SharedLayout {
 public:
  std::size_t take(std::size_t bytes, std::size_t alignment = apart_bytes) {
    const std::size_t start = round_up(size_, alignment);
    size_ = start + bytes;
    return start;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

// The copy out of shared memory that whoever reads a block makes.

// What rides behind a flag is not taken: its writer has that line in use.
template <context::Context W>
void copy_out(W& w, Address to, Address from, std::size_t bytes, memory::CopyMethod method,
              memory::CopyKernel kernel = memory::CopyKernel::plain) {
  const bool is_taken =
      method->ownership == memory::LineOwnership::reader_takes && !fits_behind_flag(bytes);
  if (is_taken && kernel == memory::CopyKernel::plain) {
    w.take(to, from, bytes);
  } else {
    w.copy(to, from, bytes, kernel == memory::CopyKernel::plain ? method->out : kernel);
    if (is_taken) w.keep(from, bytes);
  }
}

// What a rank has for itself in an exchange.

// From a rank's input to its output: not in place, where it lies there already.
template <context::Context W>
void move_own(W& w, const Block& from, const Block& to,
              memory::CopyKernel kernel = memory::CopyKernel::plain) {
  if (from.bytes == 0) return;
  w.copy({Region::output, w.rank(), static_cast<std::size_t>(to.offset)},
         {Region::input, w.rank(), static_cast<std::size_t>(from.offset)}, from.bytes, kernel);
}

}  // namespace huddle::node

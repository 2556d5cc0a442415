// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Layout of a protocol's flags and payloads in its part of shared memory, and the copies out of it.
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

// Address of a flag. Its region is known at compile time, so that an access to the flag need not
// select the region.
struct FlagAddress {
  int owner = 0;
  std::size_t offset = 0;

  constexpr operator Address() const { return {Region::shared, owner, offset}; }
};

inline constexpr std::size_t line_bytes = 64;
// Distance between data of different writers, because many CPUs fetch cache lines in pairs.
inline constexpr std::size_t false_sharing_bytes = 128;
inline constexpr std::size_t flag_bytes = 4;
// Offset of a payload in the cache line of its flag. Sufficiently aligned for all C types.
inline constexpr std::size_t payload_offset = 16;
inline constexpr std::size_t most_in_line = line_bytes - payload_offset;
constexpr bool fits_behind_flag(std::size_t bytes) { return bytes <= most_in_line; }
inline constexpr std::size_t page_bytes = 4096;

// Returns the offset of a slot's payload: behind the flag if both fit into one cache line, else in
// the next cache line, aligned for wide loads. Depends on the size only.
constexpr std::size_t payload_at(std::size_t bytes) {
  return fits_behind_flag(bytes) ? payload_offset : line_bytes;
}
// Returns the size of a slot for a payload of this size. A slot shares no cache lines with its
// neighbors.
constexpr std::size_t slot_bytes(std::size_t payload_bytes) {
  return round_up(payload_at(payload_bytes) + payload_bytes, false_sharing_bytes);
}

// Returns the rank whose memory holds block number `use` of those that `writer` passes to `reader`
// in `places` places, which are used in turn. It is the writer, except with ping-pong ownership:
// then writer and reader alternate, each time all places have been used once.
// Requires: `places` is a power of two.
constexpr int holder_of(memory::LineOwnership lines, int writer, int reader, context::Sequence use,
                        context::Sequence places) {
  const bool is_in_readers = lines == memory::LineOwnership::ping_pong && use / places % 2 == 1;
  return is_in_readers ? reader : writer;
}

// Assigns offsets in a protocol's shared memory, identically on every rank.
class SharedLayout {
 public:
  std::size_t reserve(std::size_t bytes, std::size_t alignment = false_sharing_bytes) {
    const std::size_t start = round_up(size_, alignment);
    size_ = start + bytes;
    return start;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

// Copies a block out of shared memory; called by its reader. Does not take ownership of a payload
// that shares the cache line of its flag, because the writer still uses that line.
template <context::Context Ctx>
void copy_out(Ctx& ctx, Address to, Address from, std::size_t bytes, memory::CopyMethod method,
              memory::CopyKernel kernel = memory::CopyKernel::plain) {
  const bool is_taken =
      method->ownership == memory::LineOwnership::reader_takes && !fits_behind_flag(bytes);
  if (is_taken && kernel == memory::CopyKernel::plain) {
    ctx.copy_and_own(to, from, bytes);
  } else {
    ctx.copy(to, from, bytes, kernel == memory::CopyKernel::plain ? method->out : kernel);
    if (is_taken) ctx.own(from, bytes);
  }
}

// Copies a rank's block for itself from its input to its output.
// Requires: the call is not in place (the block would already be there).
template <context::Context Ctx>
void move_own(Ctx& ctx, const Block& from, const Block& to,
              memory::CopyKernel kernel = memory::CopyKernel::plain) {
  if (from.bytes == 0) return;
  ctx.copy({Region::output, ctx.rank(), static_cast<std::size_t>(to.offset)},
           {Region::input, ctx.rank(), static_cast<std::size_t>(from.offset)}, from.bytes, kernel);
}

}  // namespace huddle::node

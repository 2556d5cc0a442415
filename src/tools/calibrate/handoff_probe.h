// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Times the transfer of a block from one core to another through shared memory: the write, the
// read, and both at once through a ring. The data changes in each round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/machine/machine.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/copy_method.h"
#include "runtime/memory/page_buffer.h"
#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

// Geometry of the measured ring: blocks of about the best size for pipelines, and enough of them
// that neither side has to wait for the other to finish a block.
inline constexpr std::size_t ring_block_bytes = 16 * 1024;
inline constexpr std::size_t ring_blocks = 16;

class HandoffProbe {
 public:
  // Throws FailureError if there is no memory.
  // Requires: `writer` and `reader` are different hardware threads of the crew.
  HandoffProbe(MeasuringThreads& crew, int writer, int reader, std::size_t most_bytes);

  // All measurements require 64 <= bytes <= most_bytes.
  //
  // Times the writer's copy to cache lines that the reader has read last. For methods with
  // LineOwnership::ping_pong, times instead the reader's copy back to lines that the writer has
  // written and the reader has read.
  Samples time_write(std::size_t bytes, memory::CopyMethod method, const Extent& extent,
                     const Budget& budget);
  // Times the reader's copy from lines that the writer has just written.
  Samples time_read(std::size_t bytes, memory::CopyMethod method, const Extent& extent,
                    const Budget& budget);
  // Times a transfer through the ring, from the writer's start until the reader has received all
  // data.
  Samples time_ring(std::size_t bytes, memory::CopyMethod method, const Extent& extent,
                    const Budget& budget);

 private:
  // Blocks of one size, far enough apart that fetching one does not prefetch the next.
  struct Layout;
  // The two sides of a round, and whether they overlap.
  struct Conversation;
  Samples time_write_cached(std::size_t bytes, memory::CopyMethod method, const Extent& extent,
                            const Budget& budget);
  Samples time_write_back(std::size_t bytes, memory::CopyMethod method, const Extent& extent,
                          const Budget& budget);
  // Copy from the writer's source to shared memory, and from there to the reader's target.
  void fill(const Layout& layout) const;
  void drain(const Layout& layout, memory::CopyMethod method) const;

  Samples converse(const Conversation& conversation, const Extent& extent, const Budget& budget);
  void vary_source(const Layout& layout, std::uint32_t round) const;
  bool arrived(const Layout& layout, std::uint32_t round) const;

  MeasuringThreads& crew_;
  int writer_;
  int reader_;
  memory::PageBuffer source_;  // of the writer
  memory::PageBuffer shared_;
  memory::PageBuffer target_;  // of the reader
};

// A hand-off curve of the machine file. Several copy methods may use the same curve, which is
// measured once.
struct CopyMethodCurve {
  machine::HandoffKind kind;
  memory::CopyMethod method;  // the first method that uses the curve; used to measure it
};

// Returns the curves that have to be measured, in the order of the machine file.
std::vector<CopyMethodCurve> copy_method_curves();

Samples time_handoff(HandoffProbe& probe, const CopyMethodCurve& curve, std::size_t bytes,
                     const Extent& extent, const Budget& budget);

}  // namespace huddle::calibrate

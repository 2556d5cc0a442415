// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A block that passes from one core to another through memory that both can reach: the writing
// half, the reading half, and both at once through a ring. The data change from round to round.
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

// The ring that is measured: blocks of about the size at which pipelines do best, and enough of
// them that neither side waits for the other to finish one.
inline constexpr std::size_t ring_block_bytes = 16 * 1024;
inline constexpr std::size_t ring_blocks = 16;

class HandoffProbe {
 public:
  // pre: two different processors of the crew. Throws FailureError when there is no memory.
  HandoffProbe(Crew& crew, int writer, int reader, std::size_t most_bytes);

  // All: 64 <= bytes <= most_bytes.
  //
  // The writer's copy into lines as this method leaves them: that the reader has had since they
  // were last written; or the reader's copy back into lines that the writer wrote and it has read.
  Samples time_write(std::size_t bytes, memory::CopyMethod method, const Extent& extent,
                     const Budget& budget);
  // The reader's copy out of lines that the writer has just written.
  Samples time_read(std::size_t bytes, memory::CopyMethod method, const Extent& extent,
                    const Budget& budget);
  // From the writer's start until the reader has copied everything out of the ring.
  Samples time_ring(std::size_t bytes, memory::CopyMethod method, const Extent& extent,
                    const Budget& budget);

 private:
  // Blocks of one size, far enough apart that fetching one does not fetch the next.
  struct Layout;
  // The two sides of a round, and whether the reader starts with the writer or after it.
  struct Conversation;
  Samples time_write_cached(std::size_t bytes, memory::CopyMethod method, const Extent& extent,
                            const Budget& budget);
  Samples time_write_back(std::size_t bytes, memory::CopyMethod method, const Extent& extent,
                          const Budget& budget);
  // The writer's source to shared memory, and from there to the reader's target.
  void fill(const Layout& layout) const;
  void drain(const Layout& layout, memory::CopyMethod method) const;

  Samples converse(const Conversation& conversation, const Extent& extent, const Budget& budget);
  void vary_source(const Layout& layout, std::uint32_t round) const;
  bool arrived(const Layout& layout, std::uint32_t round) const;

  Crew& crew_;
  int writer_;
  int reader_;
  memory::PageBuffer source_;  // the writer's
  memory::PageBuffer shared_;
  memory::PageBuffer target_;  // the reader's
};

// What is measured of the methods through shared memory: each curve that one of them names, once.
struct CopyMethodCurve {
  machine::HandoffKind kind;
  memory::CopyMethod method;  // the first that names it: by that it is measured
};

// In the order in which a machine file has them.
std::vector<CopyMethodCurve> copy_method_curves();

Samples time_handoff(HandoffProbe& probe, const CopyMethodCurve& curve, std::size_t bytes,
                     const Extent& extent, const Budget& budget);

}  // namespace huddle::calibrate

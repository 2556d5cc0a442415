// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How long a load takes that misses every cache: a chase of pointers in random order through far
// more memory than the caches hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/machine/machine.h"
#include "runtime/memory/copy.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/page_buffer.h"
#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

class MemoryProbe {
 public:
  // Memory of that node (PageBuffer::where_touched: of the processor's own). Laying out the chase
  // is most of the time; it ends early, with a shorter chase, when the budget does.
  MemoryProbe(Crew& crew, int pu, std::size_t bytes, int numa_node, const Budget& budget);

  Samples time_loads(const Extent& extent, const Budget& budget);

  // Through so much memory the chase goes.
  std::size_t chase_bytes() const { return lines_ * memory::line_bytes; }

  // Loads until the chase is back where it began.
  std::size_t cycle_lines() const;

 private:
  void lay_out(const Budget& budget);

  Crew& crew_;
  int pu_;
  memory::PageBuffer buffer_;
  std::size_t lines_ = 0;  // of the chase
  std::size_t at_ = 0;     // where the last sample ended
};

// What a program's large arrays cost it where its malloc puts them, and what they would cost in the
// shared heap: the kernel has other pages there.
class ArrayProbe {
 public:
  // So much memory in all, touched by that processor. Throws FailureError where there is none.
  ArrayProbe(Crew& crew, int pu, machine::ArrayPlace place, std::size_t bytes);

  // Loads from anywhere, each at an address that does not depend on what another brought.
  Samples time_loads(const Extent& extent, const Budget& budget);
  // a[i] = b[i] + 3 c[i] through three arrays, a third of the memory each: time of a line of a.
  Samples time_stream(const Extent& extent, const Budget& budget);

 private:
  Crew& crew_;
  int pu_;
  memory::PageBuffer buffer_;           // the program's
  std::unique_ptr<memory::Heap> heap_;  // or the shared one
  std::span<double> numbers_;
  std::uint64_t random_;
  std::size_t at_ = 0;  // where the last sample of the stream ended
};

// Copying data of one's own, again and again, alone or while others do the same.
class CopyProbe {
 public:
  // Two buffers for each processor, touched by it. Throws FailureError when there is no memory.
  CopyProbe(Crew& crew, std::span<const int> pus, std::size_t most_bytes);

  // pre: bytes <= most_bytes.
  Samples time(std::size_t bytes, memory::CopyKernel kernel, const Extent& extent,
               const Budget& budget);

 private:
  struct Buffers {
    memory::PageBuffer source;
    memory::PageBuffer target;
  };
  Crew& crew_;
  std::vector<int> pus_;
  std::vector<Buffers> buffers_;
};

// How often a piece of work on so many bytes is repeated so that the clock does not matter.
std::size_t repeats_for(std::size_t bytes);

}  // namespace huddle::calibrate

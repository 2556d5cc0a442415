// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Times loads from memory, access to large arrays and copies. MemoryProbe chases pointers in random
// order through far more memory than the caches hold.
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

// Times loads that miss every cache.
class MemoryProbe {
 public:
  // Uses memory of `numa_node` (PageBuffer::where_touched: the node of `pu`). Laying out the chase
  // takes most of the time. If the budget is exhausted, the chase is shorter.
  MemoryProbe(MeasuringThreads& crew, int pu, std::size_t bytes, int numa_node,
              const Budget& budget);

  Samples time_loads(const Extent& extent, const Budget& budget);

  // Returns the working set of the chase.
  std::size_t chase_bytes() const { return lines_ * memory::line_bytes; }

  // Returns the number of loads until the chase is back at its start.
  std::size_t cycle_lines() const;

 private:
  void lay_out(const Budget& budget);

  MeasuringThreads& crew_;
  int pu_;
  memory::PageBuffer buffer_;
  std::size_t lines_ = 0;  // in the chase
  std::size_t at_ = 0;     // position after the last sample
};

// Times access to large arrays where the program's malloc puts them and in the shared heap, which
// has different page sizes.
class ArrayProbe {
 public:
  // Allocates `bytes` in total and touches them on `pu`. Throws FailureError if there is no memory.
  ArrayProbe(MeasuringThreads& crew, int pu, machine::ArrayPlace place, std::size_t bytes);

  // Times loads at random addresses that do not depend on earlier loads.
  Samples time_loads(const Extent& extent, const Budget& budget);
  // Times a[i] = b[i] + 3 c[i] on three arrays of a third of the memory each, per cache line of a.
  Samples time_stream(const Extent& extent, const Budget& budget);

 private:
  MeasuringThreads& crew_;
  int pu_;
  memory::PageBuffer buffer_;           // if the place is the program
  std::unique_ptr<memory::Heap> heap_;  // if the place is the shared heap
  std::span<double> numbers_;
  std::uint64_t random_;
  std::size_t at_ = 0;  // position in the stream after the last sample
};

// Times repeated copies of private data on one or more cores at the same time.
class CopyProbe {
 public:
  // Allocates two buffers per hardware thread, which touches them first. Throws FailureError if
  // there is no memory.
  CopyProbe(MeasuringThreads& crew, std::span<const int> pus, std::size_t most_bytes);

  // Requires: bytes <= most_bytes.
  Samples time(std::size_t bytes, memory::CopyKernel kernel, const Extent& extent,
               const Budget& budget);

 private:
  struct Buffers {
    memory::PageBuffer source;
    memory::PageBuffer target;
  };
  MeasuringThreads& crew_;
  std::vector<int> pus_;
  std::vector<Buffers> buffers_;
};

// Returns how often work on `bytes` bytes has to be repeated so that the cost of the clock is
// negligible.
std::size_t repeats_for(std::size_t bytes);

}  // namespace huddle::calibrate

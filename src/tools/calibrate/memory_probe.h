// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How long a load takes that misses every cache: a chase of pointers in random order through far
// more memory than the caches hold.
#pragma once

#include <cstddef>

#include "runtime/memory/copy_kernels.h"
#include "runtime/memory/page_buffer.h"
#include "tools/calibrate/crew.h"
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

}  // namespace huddle::calibrate

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Copying data of one's own, again and again, alone or while others do the same.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/memory/copy.h"
#include "runtime/memory/page_buffer.h"
#include "tools/calibrate/crew.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

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

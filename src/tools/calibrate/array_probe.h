// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a program's large arrays cost it where its malloc puts them, and what they would cost in the
// shared heap: the kernel has other pages there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "model/machine/machine.h"
#include "runtime/memory/heap.h"
#include "runtime/memory/page_buffer.h"
#include "tools/calibrate/crew.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

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

}  // namespace huddle::calibrate

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The copy out of shared memory that whoever reads a block makes.
#pragma once

#include <cstddef>

#include "runtime/context/world.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/lines.h"

namespace huddle::node {

// What rides behind a flag is not taken: its writer has that line in use.
template <world::World W>
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

}  // namespace huddle::node

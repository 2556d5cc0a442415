// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The copy out of shared memory that whoever reads a block makes.
#pragma once

#include <cstddef>

#include "memory/passing.h"
#include "node/lines.h"
#include "world/world.h"

namespace huddle::node {

// What rides behind a flag is not taken: its writer has that line in use.
template <world::World W>
void copy_out(W& w, Place to, Place from, std::size_t bytes, const memory::Passing& passing) {
  if (passing.taken && !fits_behind_flag(bytes)) {
    w.take(to, from, bytes);
  } else {
    w.copy(to, from, bytes, memory::CopyKernel::plain);
  }
}

}  // namespace huddle::node

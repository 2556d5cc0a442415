// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a rank has for itself in an exchange.
#pragma once

#include "runtime/context/world.h"
#include "runtime/node/blocks.h"
#include "runtime/node/lines.h"

namespace huddle::node {

// From a rank's input to its output: not in place, where it lies there already.
template <world::World W>
void move_own(W& w, const Block& from, const Block& to,
              memory::CopyKernel kernel = memory::CopyKernel::plain) {
  if (from.bytes == 0) return;
  w.copy({Region::output, w.rank(), static_cast<std::size_t>(to.offset)},
         {Region::input, w.rank(), static_cast<std::size_t>(from.offset)}, from.bytes, kernel);
}

}  // namespace huddle::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Replaces src/mpi/back_end/save_huddle_result.cc by a version that flips a bit of huddle's result,
// which HUDDLE_VERIFY must find.
#include "mpi/back_end/verify.h"

namespace huddle::mpi {

void ReferenceResult::save_huddle_result() {
  for (const Part& part : written_.parts) {
    if (part.bytes() == 0) continue;
    Dense view(real_, comm_, part);
    view.fetch();
    // A high bit of the first element, which rounding cannot explain.
    view.data()[part.facts->bytes - 1] ^= std::byte{0x40};
    view.store();
    break;
  }
  ours_ = data();
}

}  // namespace huddle::mpi

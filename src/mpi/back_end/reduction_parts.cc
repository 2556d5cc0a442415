// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/reduction_parts.h"

namespace huddle::mpi {

void ReductionParts::pack(const Real& real, Comm comm, const Part& input, const Part* output) {
  packed_in_.emplace(real, comm, input);
  packed_in_->fetch();
  in_ = packed_in_->data();
  if (output == nullptr) return;
  packed_out_.emplace(real, comm, *output);
  out_ = packed_out_->data();
}

}  // namespace huddle::mpi

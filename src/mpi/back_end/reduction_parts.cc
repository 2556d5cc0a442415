// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/back_end/reduction_parts.h"

namespace huddle::mpi {

ReductionParts::ReductionParts(const Real& real, Comm comm, const Part& input,
                               const std::optional<Part>& output, bool is_packed)
    : in_(input.place.address), out_(output ? output->place.address : nullptr) {
  if (!is_packed) return;
  packed_in_.emplace(real, comm, input);
  packed_in_->fetch();
  in_ = packed_in_->data();
  if (!output) return;
  packed_out_.emplace(real, comm, *output);
  out_ = packed_out_->data();
}

void ReductionParts::finish() {
  if (packed_out_) packed_out_->store();
}

}  // namespace huddle::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One rank's part of a reduction, ready for a team: elements as they lie where they are named or
// dense, packed where not.
#pragma once

#include <optional>

#include "mpi/back_end/message.h"
#include "mpi/back_end/real.h"

namespace huddle::mpi {

class ReductionParts {
 public:
  // Without an output this rank gets no result.
  ReductionParts(const Real& real, Comm comm, const Part& input, const std::optional<Part>& output,
                 bool is_packed);

  const void* input() const { return in_; }
  void* output() const { return out_; }
  // The result to its place.
  void finish();

 private:
  const void* in_;
  void* out_;
  std::optional<Dense> packed_in_;
  std::optional<Dense> packed_out_;
};

}  // namespace huddle::mpi

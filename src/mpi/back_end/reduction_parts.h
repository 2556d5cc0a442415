// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One rank's part of a reduction, ready for a team: elements as they lie where they are named or
// dense, packed where the program's operator joins what has gaps.
#pragma once

#include <optional>

#include "mpi/back_end/message.h"
#include "mpi/back_end/real.h"

namespace huddle::mpi {

class ReductionParts {
 public:
  // output: null on ranks that get no result, and maybe on others: data may lie there.
  ReductionParts(const void* input, void* output) : in_(input), out_(output) {}
  // The same elements, packed. Null: this rank gets no result.
  void pack(const Real& real, Comm comm, const Part& input, const Part* output);

  const void* input() const { return in_; }
  void* output() const { return out_; }
  // The result to its place.
  void finish() {
    if (packed_out_) packed_out_->store();
  }

 private:
  const void* in_;
  void* out_;
  std::optional<Dense> packed_in_;
  std::optional<Dense> packed_out_;
};

}  // namespace huddle::mpi

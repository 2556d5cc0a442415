// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What was found out at a communicator's latest call, for the next one: programs make the same call
// again and again.
#pragma once

#include <cstdint>

#include "mpi/back_end/types.h"
#include "mpi/back_end/underlying_mpi.h"
#include "runtime/memory/reduction.h"

namespace huddle::mpi {

// For one thread at a time.
class LatestFacts {
 public:
  // Of this datatype; null: it is another than the latest, or may be, since handles are used again.
  const TypeFacts* of(Datatype type, const Types& types) const {
    const bool is_same = facts_ != nullptr && type_ == type && freed_ == types.freed();
    return is_same ? facts_ : nullptr;
  }
  // freed: types.freed() from before the facts were asked for.
  void note(Datatype type, const TypeFacts& facts, std::uint64_t freed) {
    type_ = type;
    facts_ = &facts;
    freed_ = freed;
  }

  // How these are joined; null: they are others than the latest. Only what huddle's own kernels
  // join is noted: datatypes and operators that the MPI has by itself, which nobody can free.
  const memory::Reduction* reduction(Datatype type, Op op) const {
    const bool is_same = reduction_.combine != nullptr && reduced_type_ == type && op_ == op;
    return is_same ? &reduction_ : nullptr;
  }
  void note(Datatype type, Op op, const memory::Reduction& reduction) {
    reduced_type_ = type;
    op_ = op;
    reduction_ = reduction;
  }

 private:
  Datatype type_{};
  const TypeFacts* facts_ = nullptr;
  std::uint64_t freed_ = 0;
  Datatype reduced_type_{};
  Op op_{};
  memory::Reduction reduction_;
};

}  // namespace huddle::mpi

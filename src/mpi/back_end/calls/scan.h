// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// MPI_Scan and MPI_Exscan.
#pragma once

#include "mpi/back_end/calls/reduction.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

struct ScanCall : AnyReduction {
  static constexpr select::Operation operation = select::Operation::scan;

  Route objection(const Process& process, const Communicator& communicator) const;
  Route take(const Process& process, Communicator& communicator) const;
  int native(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;
};

// The first rank gets nothing: its output is not looked at, unless its input is there.
struct ExscanCall : AnyReduction {
  static constexpr select::Operation operation = select::Operation::exscan;

  Route objection(const Process& process, const Communicator& communicator) const;
  Route take(const Process& process, Communicator& communicator) const;
  int native(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;
};

}  // namespace huddle::mpi

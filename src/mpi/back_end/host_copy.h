// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// One side of a call, whose data lie where only a device or its MPI reaches, laid out alike in host
// memory. The MPI moves them there and back.
#pragma once

#include <vector>

#include "mpi/back_end/bounds.h"
#include "mpi/back_end/message.h"
#include "runtime/memory/sparse_buffer.h"

namespace huddle::mpi {

class HostCopy {
 public:
  // Of all these parts, of which some have data. address: as the program names it in the call.
  // Throws where there is no memory or the MPI does not move them: this rank's trouble alone.
  HostCopy(const UnderlyingMpi& real, Comm comm, const void* address,
           const std::vector<Part>& parts);

  // To be named in the call instead.
  void* address() const;
  // What the call has written, to where the program has it.
  void store(const std::vector<Part>& written) const;

 private:
  Part here(const Part& part) const;

  const UnderlyingMpi& real_;
  Comm comm_;
  const void* program_address_;
  Bounds bounds_;
  memory::SparseBuffer memory_;
};

}  // namespace huddle::mpi

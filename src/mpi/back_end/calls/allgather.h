// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// MPI_Allgather and MPI_Allgatherv.
#pragma once

#include <optional>

#include "mpi/back_end/calls/side.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

// Common part of the two calls.
template <class Output>
struct AnyAllgather : ForAll<BufferArgument, Output> {
  FallbackReason check_arguments(const Process& process, const Communicator& communicator) const {
    const FallbackReason fallback =
        ForAll<BufferArgument, Output>::check_arguments(process, communicator);
    if (fallback != FallbackReason::none || this->input.is_in_place()) return fallback;
    const bool is_refused =
        is_refused_block(this->input.block(0), this->output.block(communicator.rank));
    return is_refused ? FallbackReason::invalid_arguments : fallback;
  }
  // Returns whether this rank's own block is too large for its place in the output.
  bool is_truncated(const Communicator& communicator) const {
    return !this->input.is_in_place() &&
           this->input.bytes() > this->output.block(communicator.rank).bytes();
  }

 protected:
  Part given(const Communicator& communicator) const {
    const Part own = this->output.block(communicator.rank);
    return this->input.is_in_place() ? own : this->input.block(0);
  }
};

struct AllgatherCall : AnyAllgather<BufferArgument> {
  static constexpr select::Operation operation = select::Operation::allgather;

  RepeatableArguments repeatable(const Communicator& /*communicator*/) const {
    return repeatable_blocks(operation, input, output, 0);
  }
  bool has_plain_buffers(const Process& /*process*/, const Communicator& /*communicator*/) const {
    return are_plain(input, output);
  }
  std::size_t bytes(const Communicator& /*communicator*/) const { return output.bytes(); }
  std::optional<std::size_t> common_bytes(const Communicator& /*communicator*/) const {
    return output.bytes();
  }
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
};

struct AllgathervCall : AnyAllgather<VectorBufferArgument> {
  static constexpr select::Operation operation = select::Operation::allgatherv;

  std::size_t bytes(const Communicator& communicator) const;
  std::optional<std::size_t> common_bytes(const Communicator& communicator) const {
    return output.bytes_of_all(communicator.ranks);
  }
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
};

}  // namespace huddle::mpi

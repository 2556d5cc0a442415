// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw.
#pragma once

#include <cstddef>
#include <optional>

#include "mpi/back_end/calls/side.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

struct AlltoallCall : ForAll<BufferArgument, BufferArgument> {
  static constexpr select::Operation operation = select::Operation::alltoall;

  RepeatableArguments repeatable(const Communicator& /*communicator*/) const {
    return repeatable_blocks(operation, input, output, 0);
  }
  bool has_plain_buffers(const Process& /*process*/, const Communicator& /*communicator*/) const {
    return are_plain(input, output);
  }
  std::size_t bytes(const Communicator& communicator) const {
    return (input.is_in_place() ? output : input).bytes_of_all(communicator.ranks);
  }
  // Returns whether the blocks are larger than their places in the output.
  bool is_truncated(const Communicator& /*communicator*/) const {
    return !input.is_in_place() && input.bytes() > output.bytes();
  }
  std::optional<std::size_t> common_bytes(const Communicator& communicator) const {
    return bytes(communicator);
  }
  FallbackReason check_arguments(const Process& process, const Communicator& communicator) const;
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;

 private:
  void run_with_other_size(Communicator& communicator, const std::byte* from, Dense& to) const;
};

// Common part of MPI_Alltoallv and MPI_Alltoallw. Only the two ranks of a pair know the sizes of
// their blocks, so a rank that detects a wrong size must still take part in the call, unless the
// MPI would reject it on entry.
struct AnyAlltoallv : ForAll<VectorBufferArgument, VectorBufferArgument> {
  std::size_t bytes(const Communicator& communicator) const;
  std::optional<std::size_t> common_bytes(const Communicator& /*communicator*/) const {
    return std::nullopt;
  }
  FallbackReason check_arguments(const Process& process, const Communicator& communicator) const;
  FallbackReason run(const Process& process, Communicator& communicator) const;
  // Returns whether this rank's own block is too large for its place in the output.
  bool is_truncated(const Communicator& communicator) const;
};

struct AlltoallvCall : AnyAlltoallv {
  static constexpr select::Operation operation = select::Operation::alltoallv;
  int run_by_mpi(const UnderlyingMpi& real) const;
};

struct AlltoallwCall : AnyAlltoallv {
  static constexpr select::Operation operation = select::Operation::alltoallw;
  int run_by_mpi(const UnderlyingMpi& real) const;
};

}  // namespace huddle::mpi

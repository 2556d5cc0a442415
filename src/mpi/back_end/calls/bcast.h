// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// MPI_Barrier and MPI_Bcast.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/underlying_mpi.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

struct BarrierCall {
  static constexpr select::Operation operation = select::Operation::barrier;
  Comm comm;

  void inspect(const Process& /*process*/, const Communicator& /*communicator*/) {}
  std::size_t bytes(const Communicator& /*communicator*/) const { return 0; }
  std::optional<std::size_t> common_bytes(const Communicator& /*communicator*/) const {
    return std::nullopt;
  }
  FallbackReason check_arguments(const Process& /*process*/,
                                 const Communicator& /*communicator*/) const {
    return FallbackReason::none;
  }
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const { return real.barrier(comm); }
  bool is_in_place() const { return false; }
  bool is_truncated(const Communicator& /*communicator*/) const { return false; }
  bool others_have_sent(const Communicator& /*communicator*/) const { return false; }
  std::vector<Part> read(const Communicator& /*communicator*/) const { return {}; }
  Written written(const Communicator& /*communicator*/) const { return {}; }
};

struct BcastCall {
  static constexpr select::Operation operation = select::Operation::bcast;
  void* output;  // the input on the root
  Count count;
  Datatype type;
  int root;
  Comm comm;
  const TypeFacts* facts = &no_type;

  RepeatableArguments repeatable(const Communicator& /*communicator*/) const {
    return mpi::repeatable(operation, nullptr, output, count, type, root);
  }
  bool has_plain_buffers(const Process& /*process*/, const Communicator& /*communicator*/) const {
    return facts->dense;
  }
  void inspect(const Process& process, Communicator& communicator);
  std::size_t bytes(const Communicator& communicator) const;
  std::optional<std::size_t> common_bytes(const Communicator& communicator) const {
    return bytes(communicator);
  }
  FallbackReason check_arguments(const Process& process, const Communicator& communicator) const;
  FallbackReason run(const Process& process, Communicator& communicator) const;
  int run_by_mpi(const UnderlyingMpi& real) const;
  bool is_in_place() const { return false; }
  bool is_truncated(const Communicator& /*communicator*/) const { return false; }
  bool others_have_sent(const Communicator& /*communicator*/) const { return false; }
  std::vector<Part> read(const Communicator& communicator) const;
  Written written(const Communicator& communicator) const;

 private:
  Part part() const { return {{output, count, type}, facts}; }
};

}  // namespace huddle::mpi

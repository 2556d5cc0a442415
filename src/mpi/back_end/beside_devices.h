// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Calls whose data may be in device memory, which huddle does not access. Within a node, such a
// call falls back to the MPI on all ranks, because the MPI may support device memory. The ranks
// agree on that by a vote before each call. A rank requests these votes when it first sees device
// memory; until they begin, and on several nodes, it runs its call on a copy in host memory, which
// the MPI makes.
#pragma once

#include <optional>
#include <vector>

#include "mpi/back_end/call.h"
#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/process.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::mpi {

// A copy of one buffer of a call in host memory, with the same layout, made by the MPI.
class HostCopy {
 public:
  // Copies all parts that contain data. `address` is the buffer argument of the call. Throws, on
  // this rank only, if there is no memory or the MPI cannot copy the data.
  HostCopy(const UnderlyingMpi& real, Comm comm, const void* address,
           const std::vector<Part>& parts);

  // Returns the buffer argument that refers to the copy.
  void* address() const;
  // Copies the parts that the call has written back to the program's buffer.
  void store(const std::vector<Part>& written) const;

 private:
  Part here(const Part& part) const;

  const UnderlyingMpi& real_;
  Comm comm_;
  const void* program_address_;
  Bounds bounds_;
  memory::SparseBuffer memory_;
};

bool has_data(const std::vector<Part>& parts);
bool is_any_on_device(const Devices& devices, const std::vector<Part>& parts);

// Returns the parts of the output whose contents the call reads or must preserve.
template <MovesData Call>
std::vector<Part> held_by_output(const Call& call, const Written& written) {
  if constexpr (Reduction<Call>) {
    if (call.is_in_place()) return {call.part_of_input()};
  }
  return written.parts;
}

template <MovesData Call>
bool is_on_device(const Devices& devices, const Communicator& communicator, const Call& call) {
  return is_any_on_device(devices, call.read(communicator)) ||
         is_any_on_device(devices, held_by_output(call, call.written(communicator)));
}

// A call of this rank with its buffers replaced by copies in host memory.
template <MovesData Call>
class OnHost {
 public:
  OnHost(const UnderlyingMpi& real, const Communicator& communicator, const Call& call)
      : call_(call), written_(call.written(communicator)) {
    const std::vector<Part> read = call.read(communicator);
    const std::vector<Part> held = held_by_output(call, written_);
    if constexpr (HasInput<Call>) {
      if (has_data(read)) {
        input_.emplace(real, call.comm, address_of(call.input), read);
        set_address(call_.input, input_->address());
      }
    } else if (!read.empty()) {
      written_.parts.clear();  // this rank only reads the call's only buffer
    }
    if (has_data(held)) {
      output_.emplace(real, call.comm, address_of(call.output), held);
      set_address(call_.output, output_->address());
    }
  }

  const Call& call() const { return call_; }
  // Copies the result to the program's buffer.
  // Requires: call() has run.
  void finish() const {
    if (output_) output_->store(written_.parts);
  }

 private:
  Call call_;
  Written written_;
  std::optional<HostCopy> input_;
  std::optional<HostCopy> output_;
};

}  // namespace huddle::mpi

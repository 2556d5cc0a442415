// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Calls of programs whose data may lie in a device's memory. huddle does not touch it: all ranks
// have such a call made by the MPI, which may know what to do. They can agree on that only once all
// ask each other before each call. A rank that comes too late for that, as in the first such call
// it may, takes part with a copy in host memory, which its MPI makes.
#pragma once

#include <optional>
#include <vector>

#include "mpi/back_end/call.h"
#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/message.h"
#include "mpi/back_end/process.h"
#include "runtime/memory/page_buffer.h"

namespace huddle::mpi {

// One side of a call, whose data lie where only a device or its MPI reaches, laid out alike in host
// memory. The MPI moves them there and back.
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

bool has_data(const std::vector<Part>& parts);
bool is_any_on_device(const Devices& devices, const std::vector<Part>& parts);

// What a call finds where it writes, or has to leave there.
template <class Call>
std::vector<Part> held_by_output(const Call& call, const Written& written) {
  if constexpr (is_reduction<Call>) {
    if (call.is_in_place()) return {call.part_of_input()};
  }
  return written.parts;
}

template <class Call>
bool is_on_device(const Devices& devices, const Communicator& communicator, const Call& call) {
  return is_any_on_device(devices, call.read(communicator)) ||
         is_any_on_device(devices, held_by_output(call, call.written(communicator)));
}

// A call on one rank, to be made with host memory.
template <class Call>
class OnHost {
 public:
  OnHost(const UnderlyingMpi& real, const Communicator& communicator, const Call& call)
      : call_(call), written_(call.written(communicator)) {
    const std::vector<Part> read = call.read(communicator);
    const std::vector<Part> held = held_by_output(call, written_);
    if constexpr (requires { call.input; }) {
      if (has_data(read)) {
        input_.emplace(real, call.comm, input_of(call), read);
        call_ = with_input(call_, input_->address());
      }
    } else if (!read.empty()) {
      written_.parts.clear();  // the only buffer there is, and it is read
    }
    if (has_data(held)) {
      output_.emplace(real, call.comm, output_of(call), held);
      call_ = with_output(call_, output_->address());
    }
  }

  const Call& call() const { return call_; }
  // Once it is made: what came of it, to where the program wants it.
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

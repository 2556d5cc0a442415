// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The collectives that huddle handles, as objects that hold a program's arguments. Each computes
// its sizes, checks its arguments, and runs by huddle or by the MPI. The other calls are in calls/.
//
// look() determines the properties of the datatypes and comes before everything but native().
// read() returns the input that a rank contributes unless it is in place, written() the output;
// both return only data that huddle accesses. Arguments that are not significant are not examined.
#pragma once

#include <fmt/format.h>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "mpi/back_end/calls/reductions.h"
#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/underlying_mpi.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

struct BarrierCall {
  static constexpr select::Operation operation = select::Operation::barrier;
  Comm comm;

  void look(const Process& /*process*/, const Communicator& /*communicator*/) {}
  // Returns the size of this rank's data.
  std::size_t bytes(const Communicator& /*communicator*/) const { return 0; }
  // Returns the size of a call whose size every rank knows, else nullopt.
  std::optional<std::size_t> common_bytes(const Communicator& /*communicator*/) const {
    return std::nullopt;
  }
  Route objection(const Process& process, const Communicator& communicator) const;
  // Throws what the team's collective throws.
  Route take(const Process& process, Communicator& communicator) const;
  int native(const UnderlyingMpi& real) const { return real.barrier(comm); }
};

struct BcastCall {
  static constexpr select::Operation operation = select::Operation::bcast;
  void* output;  // the input on the root
  Count count;
  Datatype type;
  int root;
  Comm comm;
  const TypeFacts* facts = &no_type;

  void look(const Process& process, Communicator& communicator);
  std::size_t bytes(const Communicator& communicator) const;
  std::optional<std::size_t> common_bytes(const Communicator& communicator) const {
    return bytes(communicator);
  }
  Route objection(const Process& process, const Communicator& communicator) const;
  Route take(const Process& process, Communicator& communicator) const;
  int native(const UnderlyingMpi& real) const;
  std::vector<Part> read(const Communicator& communicator) const;
  Written written(const Communicator& communicator) const;

 private:
  Part part() const { return {{output, count, type}, facts}; }
};

struct AllreduceCall : AnyReduction {
  static constexpr select::Operation operation = select::Operation::allreduce;

  Route objection(const Process& process, const Communicator& communicator) const;
  Route take(const Process& process, Communicator& communicator) const;
  int native(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;
};

struct ReduceCall : AnyReduction {
  static constexpr select::Operation operation = select::Operation::reduce;
  int root;

  Route objection(const Process& process, const Communicator& communicator) const;
  Route take(const Process& process, Communicator& communicator) const;
  int native(const UnderlyingMpi& real) const;
  Written written(const Communicator& communicator) const;

 private:
  bool is_wrong_at_root() const;
  Route take_part_and_discard(const Process& process, Communicator& communicator) const;
};

// The buffer arguments of any call, and copies of the call with another buffer.
template <class Call>
constexpr bool is_reduction = requires(const Call& call) {
  call.op;
};

template <class Call>
const void* input_of(const Call& call) {
  if constexpr (requires { call.input.address; }) {
    return call.input.address;
  } else {
    return call.input;
  }
}

template <class Call>
const void* output_of(const Call& call) {
  if constexpr (requires { call.output.address; }) {
    return call.output.address;
  } else {
    return call.output;
  }
}

template <class Call>
Call with_input(Call call, void* input) {
  if constexpr (requires { call.input.address; }) {
    call.input.address = input;
  } else {
    call.input = input;
  }
  return call;
}

template <class Call>
Call with_output(Call call, void* output) {
  if constexpr (requires { call.output.address; }) {
    call.output.address = output;
  } else {
    call.output = output;
  }
  return call;
}

// Descriptions of a call for a message about its result.
std::string described_data(const Written& written);
std::string_view described_type(const TypeFacts& facts);

// "MPI_SUM of MPI_PACKED"
template <class Call>
std::string described_reduction(const Operators& known, const Call& call) {
  return fmt::format("{} of {}", known.name(call.op), described_type(*call.facts));
}

// Requires: look() was called.
template <class Call>
std::string described(const Process& process, const Communicator& communicator, const Call& call) {
  std::string text = fmt::format("{} of {}", select::name(Call::operation),
                                 described_data(call.written(communicator)));
  if constexpr (requires { call.op; }) {
    text += fmt::format(" by {}", process.operators().name(call.op));
  }
  if constexpr (requires { call.is_in_place(); }) {
    if (call.is_in_place()) text += ", in place";
  }
  if constexpr (requires { call.root; }) text += fmt::format(", root {}", call.root);
  return text + fmt::format(", rank {} of {}, algorithm {}", communicator.rank, communicator.ranks,
                            communicator.latest_algorithm());
}

}  // namespace huddle::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The interface of collective calls in the back end. A call is an object that holds the program's
// arguments, checks them, computes its sizes, and runs the collective through huddle or the MPI.
// The classes are in calls/, together with the MPI functions that the back end exports.
#pragma once

#include <fmt/format.h>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/back_end/calls/reductions.h"
#include "mpi/back_end/calls/side.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/process.h"
#include "mpi/back_end/underlying_mpi.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

// Requires every member of every call, so that a misspelled member is a compile-time error.
template <class Call>
concept CollectiveCall = requires(Call& own, const Call& call, const Process& process,
                                  Communicator& communicator, const Communicator& same,
                                  const UnderlyingMpi& real) {
  { Call::operation } -> std::convertible_to<select::Operation>;
  { call.comm } -> std::convertible_to<Comm>;
  // Determines the properties of the datatypes. Must be called before the other functions, except
  // run_by_mpi(). Does not examine arguments that are not significant on this rank.
  own.inspect(process, communicator);
  // Returns the fallback reason if the arguments prevent handling by huddle, else
  // FallbackReason::none.
  { call.check_arguments(process, same) } -> std::same_as<FallbackReason>;
  // Returns the size of this rank's data.
  { call.bytes(same) } -> std::same_as<std::size_t>;
  // Returns the size of a call whose size every rank knows, else nullopt.
  { call.common_bytes(same) } -> std::same_as<std::optional<std::size_t>>;
  // Runs the call through huddle. Throws what the team's collective throws.
  { call.run(process, communicator) } -> std::same_as<FallbackReason>;
  // Runs the call through the MPI, and returns its status.
  { call.run_by_mpi(real) } -> std::same_as<int>;
  // Returns whether this rank passes MPI_IN_PLACE.
  { call.is_in_place() } -> std::same_as<bool>;
  // Returns whether this rank's own block is too large for its place in the output.
  { call.is_truncated(same) } -> std::same_as<bool>;
  // Returns whether the other ranks may have sent their data by the time this rank detects an
  // error.
  { call.others_have_sent(same) } -> std::same_as<bool>;
  // Return the data that huddle reads and writes on this rank: its input, unless that is in place,
  // and its output.
  { call.read(same) } -> std::same_as<std::vector<Part>>;
  { call.written(same) } -> std::same_as<Written>;
};

template <class Call>
concept Reduction = CollectiveCall<Call> && std::derived_from<Call, AnyReduction>;

template <class Call>
concept Rooted = CollectiveCall<Call> && requires(const Call& call) {
  { call.root } -> std::convertible_to<int>;
};

// A call that has an input buffer and an output buffer.
template <class Call>
concept HasInput = CollectiveCall<Call> && requires(const Call& call) {
  { address_of(call.input) } -> std::same_as<const void*>;
};

// All calls except the barrier.
template <class Call>
concept MovesData = CollectiveCall<Call> && Call::operation != select::Operation::barrier;

// Notes the buffer argument of the call if it is larger than those of earlier calls. Also notes
// addresses that are not significant on this rank, so they must not be dereferenced.
template <CollectiveCall Call>
void note_data(Communicator& communicator, const Call& call) {
  if constexpr (MovesData<Call>) {
    const std::size_t bytes = call.bytes(communicator);
    if (bytes <= communicator.data.size()) return;
    const void* address = address_of(call.output);
    if constexpr (HasInput<Call>) {
      if (!call.is_in_place()) address = address_of(call.input);
    }
    communicator.data = {static_cast<const std::byte*>(address), bytes};
  }
}

// Describe a call in a message about its result.
std::string described_data(const Written& written);
std::string_view described_type(const TypeFacts& facts);

// Returns text such as "MPI_SUM of MPI_PACKED".
template <Reduction Call>
std::string described_reduction(const Operators& known, const Call& call) {
  return fmt::format("{} of {}", known.name(call.op), described_type(*call.facts));
}

// Requires: inspect() was called.
template <CollectiveCall Call>
std::string described(const Process& process, const Communicator& communicator, const Call& call) {
  std::string text = fmt::format("{} of {}", select::name(Call::operation),
                                 described_data(call.written(communicator)));
  if constexpr (Reduction<Call>) {
    text += fmt::format(" by {}", process.operators().name(call.op));
  }
  if (call.is_in_place()) text += ", in place";
  if constexpr (Rooted<Call>) text += fmt::format(", root {}", call.root);
  return text + fmt::format(", rank {} of {}, algorithm {}", communicator.rank, communicator.ranks,
                            communicator.latest_algorithm());
}

}  // namespace huddle::mpi

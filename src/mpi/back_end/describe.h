// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A call in words, for a complaint about its result.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "mpi/back_end/calls/written.h"
#include "mpi/back_end/communicator.h"
#include "mpi/back_end/process.h"

namespace huddle::mpi {

std::string described_data(const Written& written);
std::string_view described_type(const TypeFacts& facts);

// "MPI_SUM of MPI_PACKED"
template <class Call>
std::string described_reduction(const Operators& known, const Call& call) {
  return fmt::format("{} of {}", known.name(call.op), described_type(*call.facts));
}

// pre: the call has been looked at.
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

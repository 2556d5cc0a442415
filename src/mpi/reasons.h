// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Why collectives were left to the MPI, for the lines at a program's end.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mpi/route.h"
#include "mpi/stub/door.h"

namespace huddle::mpi {

struct Reason {
  std::size_t calls;
  std::string_view words;
};

// Returns why a call never reaches the back end, from its name: huddle handles no call of this
// kind.
std::string_view kind_never_taken(std::string_view name);

// Returns all reasons that occurred, the most frequent one first. Includes the calls that the stub
// forwards to the MPI and counts itself.
std::vector<Reason> reasons_of(const std::array<std::size_t, route_count>& passed,
                               const huddle_door& door);
void sort_by_calls(std::vector<Reason>& reasons);

std::size_t calls_of(const std::vector<Reason>& reasons);
// Returns " (12 one rank, 3 nonblocking)", or nothing if there are no reasons.
std::string listed(const std::vector<Reason>& reasons);
// Returns a number with a comma after each group of three digits.
std::string grouped(std::size_t number);

}  // namespace huddle::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What can be asked of a team, and one such request as far as the choice of an algorithm sees it:
// only what is equal on all ranks.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace huddle::select {

enum class Operation { barrier, bcast, reduce, allreduce };
inline constexpr std::array<Operation, 4> operations = {Operation::barrier, Operation::bcast,
                                                        Operation::reduce, Operation::allreduce};
inline constexpr std::array<std::string_view, 4> operation_names = {"barrier", "bcast", "reduce",
                                                                    "allreduce"};
constexpr std::string_view name(Operation operation) {
  return operation_names[static_cast<std::size_t>(operation)];
}

struct Request {
  Operation operation = Operation::barrier;
  std::size_t bytes = 0;          // of one rank's data
  std::size_t element_bytes = 1;  // of a reduction

  bool operator==(const Request&) const = default;
};

}  // namespace huddle::select

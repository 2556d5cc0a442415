// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <string_view>

#include "api/guard.h"
#include "api/handles.h"
#include "memory/reduction.h"
#include "memory/types.h"

namespace huddle::api {
namespace {

// The numbers of the C interface are those of the kernels.
static_assert(HUDDLE_LONG_DOUBLE_INT == static_cast<int>(memory::Type::long_double_int));
static_assert(HUDDLE_FLOAT16 == static_cast<int>(memory::Type::float16));
static_assert(HUDDLE_MAX_LOCATION == static_cast<int>(memory::Operator::max_location));
static_assert(HUDDLE_BITWISE_AND == static_cast<int>(memory::Operator::bitwise_and));

memory::Reduction reduction_of(huddle_type type, huddle_operator op) {
  require(type >= HUDDLE_INT8 && type <= HUDDLE_LONG_DOUBLE_INT, "no such type");
  require(op >= HUDDLE_SUM && op <= HUDDLE_MAX_LOCATION, "no such operator");
  const auto of = static_cast<memory::Type>(type);
  const auto by = static_cast<memory::Operator>(op);
  require(memory::is_defined(of, by), "this type does not have this operator");
  return memory::reduction(of, by);
}

memory::Reduction reduction_of(const huddle_reduction* reduction) {
  require(reduction != nullptr && reduction->combine != nullptr && reduction->element_bytes > 0,
          "a reduction without a function, or of elements of no bytes");
  return {reduction->combine, reduction->arg, reduction->element_bytes, false};
}

template <class Work>
huddle_status collective(huddle_team* team, Work work) {
  if (team == nullptr) return HUDDLE_MISUSED;
  return status_of([&] { work(team->team); },
                   [team](std::string_view text) { team->message = text; });
}

void require_root(const team::Team& team, int root) {
  require(root >= 0 && root < team.ranks(), "the root is not a rank of the team");
}

template <class... Described>
huddle_status reduce(huddle_team* team, const void* input, void* output, size_t count, int root,
                     Described... described) {
  return collective(team, [&](team::Team& of) {
    require_root(of, root);
    require(count == 0 || (input != nullptr && (output != nullptr || of.rank() != root)),
            "a reduction without data");
    of.reduce(input, output, count, reduction_of(described...), root);
  });
}

template <class... Described>
huddle_status allreduce(huddle_team* team, const void* input, void* output, size_t count,
                        Described... described) {
  return collective(team, [&](team::Team& of) {
    require(count == 0 || (input != nullptr && output != nullptr), "a reduction without data");
    of.allreduce(input, output, count, reduction_of(described...));
  });
}

}  // namespace
}  // namespace huddle::api

using namespace huddle::api;

huddle_status huddle_barrier(huddle_team* team) {
  return collective(team, [](huddle::team::Team& of) { of.barrier(); });
}

huddle_status huddle_bcast(huddle_team* team, void* buffer, size_t bytes, int root) {
  return collective(team, [&](huddle::team::Team& of) {
    require_root(of, root);
    require(bytes == 0 || buffer != nullptr, "a broadcast without a buffer");
    of.bcast(buffer, bytes, root);
  });
}

huddle_status huddle_reduce(huddle_team* team, const void* input, void* output, size_t count,
                            huddle_type type, huddle_operator op, int root) {
  return reduce(team, input, output, count, root, type, op);
}

huddle_status huddle_allreduce(huddle_team* team, const void* input, void* output, size_t count,
                               huddle_type type, huddle_operator op) {
  return allreduce(team, input, output, count, type, op);
}

huddle_status huddle_reduce_by(huddle_team* team, const void* input, void* output, size_t count,
                               const huddle_reduction* reduction, int root) {
  return reduce(team, input, output, count, root, reduction);
}

huddle_status huddle_allreduce_by(huddle_team* team, const void* input, void* output, size_t count,
                                  const huddle_reduction* reduction) {
  return allreduce(team, input, output, count, reduction);
}

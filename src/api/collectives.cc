// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>

#include "api/guard.h"
#include "api/handles.h"
#include "memory/reduction.h"
#include "memory/types.h"

namespace huddle::api {
namespace {

// The numbers of the C interface are those of the kernels.
static_assert(HUDDLE_INT8 == static_cast<int>(memory::Type::int8));
static_assert(HUDDLE_FLOAT16 == static_cast<int>(memory::Type::float16));
static_assert(HUDDLE_LONG_DOUBLE_INT + 1 == memory::type_facts.size());
static_assert(HUDDLE_SUM == static_cast<int>(memory::Operator::sum));
static_assert(HUDDLE_BITWISE_AND == static_cast<int>(memory::Operator::bitwise_and));
static_assert(HUDDLE_MAX_LOCATION + 1 == memory::operator_names.size());

bool exists(huddle_type type) { return type >= HUDDLE_INT8 && type <= HUDDLE_LONG_DOUBLE_INT; }

memory::Reduction reduction_of(huddle_type type, huddle_operator op) {
  require(exists(type), "there is no such huddle_type");
  require(op >= HUDDLE_SUM && op <= HUDDLE_MAX_LOCATION, "there is no such huddle_operator");
  const auto of = static_cast<memory::Type>(type);
  const auto by = static_cast<memory::Operator>(op);
  if (!memory::is_defined(of, by)) {
    throw UsageError(fmt::format("{} is not for elements of type {}", name(by), name(of)));
  }
  return memory::reduction(of, by);
}

memory::Reduction reduction_of(const huddle_reduction* reduction) {
  require(reduction != nullptr, "the reduction is null");
  require(reduction->combine != nullptr, "the reduction has no function that combines");
  require(reduction->element_bytes > 0, "the reduction is of elements of no bytes");
  return {reduction->combine, reduction->arg, reduction->element_bytes, false};
}

template <class Work>
huddle_status collective(huddle_team* team, Work work) {
  if (team == nullptr) return HUDDLE_MISUSED;
  return status_of(&team->message, [&] { work(team->team); });
}

void require_root(const team::Team& team, int root) {
  require(root >= 0 && root < team.ranks(), "the root is not a rank of the team");
}

// A root of -1: of all.
void require_data(const team::Team& team, const void* input, const void* output, size_t count,
                  const memory::Reduction& reduction, int root) {
  require(count <= most_bytes / reduction.element_bytes, "no memory holds so many elements");
  require(count == 0 || input != nullptr, "the input is null");
  const bool gets_result = root < 0 || team.rank() == root;
  require(count == 0 || output != nullptr || !gets_result, "the output is null");
}

template <class... Described>
huddle_status reduce(huddle_team* team, const void* input, void* output, size_t count, int root,
                     Described... described) {
  return collective(team, [&](team::Team& of) {
    require_root(of, root);
    const memory::Reduction reduction = reduction_of(described...);
    require_data(of, input, output, count, reduction, root);
    of.reduce(input, output, count, reduction, root);
  });
}

template <class... Described>
huddle_status allreduce(huddle_team* team, const void* input, void* output, size_t count,
                        Described... described) {
  return collective(team, [&](team::Team& of) {
    const memory::Reduction reduction = reduction_of(described...);
    constexpr int everybody = -1;
    require_data(of, input, output, count, reduction, everybody);
    of.allreduce(input, output, count, reduction);
  });
}

}  // namespace
}  // namespace huddle::api

using namespace huddle::api;

size_t huddle_type_bytes(huddle_type type) {
  return exists(type) ? huddle::memory::type_bytes(static_cast<huddle::memory::Type>(type)) : 0;
}

huddle_status huddle_barrier(huddle_team* team) {
  return collective(team, [](huddle::team::Team& of) { of.barrier(); });
}

huddle_status huddle_bcast(huddle_team* team, void* buffer, size_t bytes, int root) {
  return collective(team, [&](huddle::team::Team& of) {
    require_root(of, root);
    require(bytes <= most_bytes, "no memory holds so many bytes");
    require(bytes == 0 || buffer != nullptr, "the buffer is null");
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

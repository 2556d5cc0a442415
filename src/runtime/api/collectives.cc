// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/api/collective.h"

namespace huddle::api {
namespace {

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

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/schedules/operation.h"

namespace huddle::net {

std::string_view name(Operation operation) {
  switch (operation) {
    case Operation::allgather:
      return "allgather";
    case Operation::bcast:
      return "bcast";
    case Operation::barrier:
      return "barrier";
    case Operation::allreduce:
      return "allreduce";
    case Operation::reduce:
      return "reduce";
    case Operation::reduce_scatter:
      return "reduce_scatter";
    case Operation::alltoall:
      return "alltoall";
    case Operation::gather:
      return "gather";
    case Operation::scatter:
      return "scatter";
    case Operation::scan:
      return "scan";
    case Operation::exscan:
      return "exscan";
  }
  return {};
}

bool has_root(Operation operation) {
  return operation == Operation::bcast || operation == Operation::reduce ||
         operation == Operation::gather || operation == Operation::scatter;
}

bool reduces(Operation operation) {
  return operation == Operation::allreduce || operation == Operation::reduce ||
         operation == Operation::reduce_scatter || operation == Operation::scan ||
         operation == Operation::exscan;
}

}  // namespace huddle::net

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "select/floor.h"

#include <algorithm>
#include <limits>

namespace huddle::select {
namespace {

struct Incoming {
  double blocks = 0;
  double bytes = 0;  // in each
};

// What the rank that takes in most does take in, when all share the work as well as they can.
Incoming incoming(const Request& request, double ranks) {
  const auto bytes = static_cast<double>(request.bytes);
  switch (request.operation) {
    case Operation::barrier:
      return {};
    case Operation::bcast:
    case Operation::scatter:
    case Operation::scatterv:
    case Operation::scan:
    case Operation::exscan:
      return {1, bytes};
    // Each reduces its share of what the others have; where all need all of it, they then take in
    // the others' results.
    case Operation::reduce:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return {ranks - 1, bytes / ranks};
    case Operation::allreduce:
      return {2 * (ranks - 1), bytes / ranks};
    case Operation::allgather:
    case Operation::allgatherv:
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gather:
    case Operation::gatherv:
      return {ranks - 1, bytes};
  }
  return {};
}

// 0 where ranks share a processor: then nothing is known.
double farthest_line_ns(int from, const node::Seats& seats, const machine::CostModel& model) {
  double farthest = 0;
  for (const int to : seats.pus) {
    farthest =
        std::max(farthest, std::min(model.line_ns(from, to), model.shared_line_ns(from, to)));
  }
  return farthest;
}

// By whatever way is the fastest, from the nearest peer.
double read_ns(double bytes, const node::Seats& seats, const machine::CostModel& model) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const machine::PathCurve& path : model.machine().paths) {
    fastest = std::min(fastest, model.path_ns(path.path, bytes, 0));
  }
  for (const int to : seats.pus) {
    for (const int from : seats.pus) {
      if (from == to) continue;
      for (const auto kind :
           {machine::HandoffKind::read_dirty, machine::HandoffKind::read_abreast}) {
        fastest = std::min(fastest, model.handoff_ns(bytes, from, to, kind));
      }
    }
  }
  return fastest < std::numeric_limits<double>::infinity() ? fastest : 0;
}

}  // namespace

double floor_ns(const Request& request, const node::Seats& seats, const machine::CostModel& model) {
  double line_ns = std::numeric_limits<double>::infinity();
  for (const int from : seats.pus) {
    line_ns = std::min(line_ns, farthest_line_ns(from, seats, model));
  }
  const Incoming in = incoming(request, seats.ranks());
  if (in.blocks * in.bytes <= 0) return line_ns;
  // Small blocks are better read at once, and what outgrows a cache is better read in blocks.
  return std::max(line_ns, std::min(in.blocks * read_ns(in.bytes, seats, model),
                                    read_ns(in.blocks * in.bytes, seats, model)));
}

}  // namespace huddle::select

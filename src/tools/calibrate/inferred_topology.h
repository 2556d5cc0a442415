// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Infers a machine's topology, which firmware would report, from the latencies between all its
// hardware threads.
#pragma once

#include <string>
#include <vector>

#include "model/machine/cpu_family.h"
#include "model/machine/topology.h"
#include "tools/calibrate/latency_matrix.h"

namespace huddle::calibrate {

// Facts that the latencies do not contain.
struct TopologyFacts {
  std::string cpu_model;  // empty if unknown
  int sockets = 0;        // 0 if unknown
  // Hardware threads whose latency is below this share a core.
  double siblings_below_ns = 0;
};

struct InferredTopology {
  machine::Topology topology;
  // Sockets that the latencies do not show. Those inside them are not typical of a socket.
  std::vector<machine::CpuSet> assumed_sockets;
  std::vector<std::string> notes;  // what was assumed, in sentences
};

// Recognizes hardware threads of one core, cores that share an L3, NUMA nodes and sockets. Cache
// sizes come from the processor's family. Throws InputError if the number of groups of every
// level differs from the number of sockets.
InferredTopology infer_topology(const LatencyMatrix& matrix, const TopologyFacts& facts);

}  // namespace huddle::calibrate

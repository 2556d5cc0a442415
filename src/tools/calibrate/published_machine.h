// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Makes a machine model from published core-to-core latencies, for machines on which
// huddle cannot run.
#pragma once

#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "tools/calibrate/latency_matrix.h"

namespace huddle::calibrate {

// The cache lines that the two sides of the published ping-pong write.
enum class PublishedLine {
  shared,    // the same cache line, as core-to-core-latency does by default
  separate,  // one cache line each
};

struct PublishedFacts {
  std::string name;    // of the machine
  std::string source;  // of the latencies
  PublishedLine line = PublishedLine::shared;
  std::string cpu_model = {};              // empty: that of `like`, if any
  int sockets = 0;                         // 0: inferred
  bool only_levels = false;                // leave out the latency of each pair
  const machine::Machine* like = nullptr;  // a similar machine, for all other figures
};

struct PublishedMachine {
  machine::Machine machine;
  std::vector<std::string> notes;  // what was assumed, in sentences
};

// Infers the topology from the latencies. All other figures are estimated: taken from the similar
// machine as far as it has them, else generic. Throws InputError if the facts contradict the
// latencies.
PublishedMachine published_machine(const LatencyMatrix& matrix, const PublishedFacts& facts);

}  // namespace huddle::calibrate

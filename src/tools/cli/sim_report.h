// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle sim` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/fabric/fabric_file.h"
#include "simulate/network/simulation.h"
#include "tools/cli/console.h"

namespace huddle::cli {

inline constexpr int sim_json_schema = 1;

struct SimulatedRow {
  std::string algorithm;  // "allgather:ring"
  sim::Outcome outcome;
  std::optional<double>
      judge_ns;  // what the judge says of the same, where it was asked and knows it
};

struct Simulated {
  std::string operation;
  double bytes = 0;   // as they were asked for
  bool moves = true;  // a barrier does not
  int ranks = 1;
  std::string placement;  // "block", "random:7"
  std::string judge;      // "simgrid"; "": none was asked
  fabric::Cluster cluster;
  std::vector<SimulatedRow> rows;  // the fastest first
};

std::string sim_text(const Simulated& simulated, const Console& console);
std::string sim_json(const Simulated& simulated);

}  // namespace huddle::cli

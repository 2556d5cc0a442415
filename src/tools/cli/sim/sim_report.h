// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle sim` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/fabric/fabric_file.h"
#include "runtime/select/candidate.h"
#include "runtime/select/operation.h"
#include "simulate/network/simulation.h"
#include "simulate/protocols/model/simulated_context.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"

namespace huddle::cli {

inline constexpr int sim_json_schema = 1;

struct SimulatedRow {
  std::string algorithm;  // "allgather:ring"
  network::Outcome outcome;
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

// `huddle sim` inside a node: a protocol on a modelled machine, and the closed forms held against
// it.
inline constexpr int node_sim_json_schema = 1;

struct NodeSimulated {
  select::Request request;
  int root = 0;  // of operations that have one
  std::string machine;
  std::vector<int> processors;  // by rank
  select::Candidate candidate;
  protocols::model::Outcome outcome;
};

// Neither may be more than so many times the other.
inline constexpr double agree_within = 1.5;

// A closed form beside what its protocol took.
struct Compared {
  select::Request request;
  int ranks = 1;
  std::string algorithm;
  double price_ns = 0;
  double simulated_ns = 0;

  double ratio() const { return simulated_ns / price_ns; }
  bool agrees() const { return ratio() <= agree_within && 1 / ratio() <= agree_within; }
};

struct AgainstPrices {
  std::string machine;
  std::vector<Compared> points;
  int left_out = 0;         // that take longer than anybody waits for
  double agreeing() const;  // share
};

class NodeSim {
 public:
  struct Words {
    std::string operation, size;
    int ranks = 0;  // 0: one a core
    int root = 0;
    bool json = false;
  };

  void declare(Options& options);
  void run(const Context& context, const Words& words) const;

 private:
  NodeSimulated simulated(const Context& context, const Words& words) const;
  AgainstPrices against_prices(const Context& context, int ranks) const;

  std::string bind_, algorithm_, trace_;
  bool against_prices_ = false;
};

std::string node_sim_text(const NodeSimulated& simulated, const Console& console);
std::string node_sim_json(const NodeSimulated& simulated);
std::string against_prices_text(const AgainstPrices& compared, const Console& console);
std::string against_prices_json(const AgainstPrices& compared);

}  // namespace huddle::cli

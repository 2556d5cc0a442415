// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reports of `huddle sim`, between nodes and inside a node.
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
  std::string algorithm;  // for example "allgather:ring"
  network::Outcome outcome;
  std::optional<double>
      // `judge_ns` is the judge's result, if there is a judge and it supports the schedule.
      judge_ns;
};

struct Simulated {
  std::string operation;
  double bytes = 0;   // as given
  bool moves = true;  // false for a barrier
  int ranks = 1;
  std::string placement;  // for example "block", "random:7"
  std::string judge;      // "simgrid"; empty: none
  fabric::Cluster cluster;
  std::vector<SimulatedRow> rows;  // the fastest first
};

std::string sim_text(const Simulated& simulated, const Console& console);
std::string sim_json(const Simulated& simulated);

// `huddle sim` inside a node: simulates a protocol on a modelled machine and compares the cost
// model's closed forms with the result.
inline constexpr int node_sim_json_schema = 1;

struct NodeSimulated {
  select::Request request;
  int root = 0;  // for operations that have one
  std::string machine;
  std::vector<int> processors;  // by rank
  select::Candidate candidate;
  protocols::model::Outcome outcome;
};

// Largest ratio of predicted and simulated time, in either direction, that counts as agreement.
inline constexpr double agree_within = 1.5;

// The predicted time of a closed form and the simulated time of its protocol.
struct Compared {
  select::Request request;
  int ranks = 1;
  std::string algorithm;
  double price_ns = 0;
  double simulated_ns = 0;

  double ratio() const { return simulated_ns / price_ns; }
  bool agrees() const { return ratio() <= agree_within && 1 / ratio() <= agree_within; }
};

struct ModelComparison {
  std::string machine;
  std::vector<Compared> points;
  int left_out = 0;         // points whose simulation would take too long
  double agreeing() const;  // share of the points
};

class NodeSim {
 public:
  struct Words {
    std::string operation, size;
    int ranks = 0;  // 0: one per core
    int root = 0;
    bool json = false;
  };

  void declare(Options& options);
  void run(const Context& context, const Words& words) const;

 private:
  NodeSimulated simulated(const Context& context, const Words& words) const;
  ModelComparison against_prices(const Context& context, int ranks) const;

  std::string bind_, algorithm_, trace_;
  bool against_prices_ = false;
};

std::string node_sim_text(const NodeSimulated& simulated, const Console& console);
std::string node_sim_json(const NodeSimulated& simulated);
std::string against_prices_text(const ModelComparison& compared, const Console& console);
std::string against_prices_json(const ModelComparison& compared);

}  // namespace huddle::cli

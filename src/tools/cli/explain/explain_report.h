// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reports of `huddle explain`, inside one node and over several nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/internode/node_map.h"
#include "runtime/internode/prediction.h"
#include "runtime/select/candidate.h"
#include "runtime/select/explain.h"
#include "runtime/select/operation.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/picture/picture.h"

namespace huddle::cli {

struct Explained {
  select::Explanation explanation;
  std::vector<int> processors;  // by rank
  picture::Subject subject;     // the machine
  std::string binding = {};     // binding of the ranks, as in --bind
  bool has_heap = false;        // the ranks share one
  double error = 0;             // of predictions on this machine, relative
  // Simulates a candidate's protocol; empty if not requested.
  std::function<double(const select::Candidate&)> simulated_ns = {};
};

// `all`: shows every candidate, otherwise the cheapest few.
std::string explain_text(const Explained& explained, bool all, const Console& console);
// Returns one document on one line, with every candidate.
std::string explain_json(const Explained& explained);

// The options --nodes, --ranks-per-node and --map.
class NodesOptions {
 public:
  void declare(Options& options);
  bool given() const { return nodes_ > 0 || ranks_per_node_ > 0 || !map_.empty(); }
  // Returns the placement of the ranks. `cores`: per node. Throws UsageError if the options do not
  // determine the placement.
  internode::NodeMap map(int cores) const;
  // Returns a description such as "in blocks".
  std::string placement() const;

 private:
  bool is_round_robin() const { return map_ == "round-robin"; }

  int nodes_ = 0;
  int ranks_per_node_ = 0;
  std::string map_;
};

// The measured time of an MPI's collective.
struct MpiAnswer {
  std::string mpi;
  std::int64_t ns = 0;
  bool is_left_to_it = false;
};

// The results of `huddle explain --nodes`.
struct NodesExplained {
  select::Request request;
  int ranks = 0;
  int nodes = 0;
  std::string placement;
  picture::Subject subject;  // the machine model of each node
  internode::Network network;
  internode::Prediction prediction;
  std::string forced;                 // the requested algorithm between nodes; empty: the cheapest
  std::int64_t by_one_leader_ns = 0;  // predicted time with only one leader per node
  std::string before, after;          // the algorithms within a node; empty: no such phase
  internode::Sent sent;
  std::vector<MpiAnswer> mpis;  // empty: not measured
  std::string left_unmeasured;  // why the call falls back to the MPI without a measurement; empty:
                                // it does not
};

// Returns the chosen candidate of the node with the most ranks; none if that is one rank.
using InNode = std::function<std::optional<select::Candidate>(const select::Request&)>;
NodesExplained nodes_explained(const select::Request& request, const NodesOptions& options,
                               const picture::Subject& subject, const internode::NodeMap& map,
                               const InNode& in_node, const internode::ForcedAlgorithms& forced,
                               std::optional<internode::Sharing> sharing);

std::string explain_nodes_text(const NodesExplained& explained, const Console& console);
std::string explain_nodes_json(const NodesExplained& explained);

}  // namespace huddle::cli

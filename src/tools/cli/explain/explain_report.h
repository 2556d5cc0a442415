// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle explain` prints.
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
  std::string binding = {};     // to what ranks are bound, as --bind has it
  bool has_heap = false;        // the ranks share one
  double error = 0;             // of predictions on this machine, as a share
  // What the protocol takes in a modelled world; empty where that was not asked for.
  std::function<double(const select::Candidate&)> simulated_ns = {};
};

// all: every candidate; otherwise the cheapest few.
std::string explain_text(const Explained& explained, bool all, const Console& console);
// One document on one line, with every candidate.
std::string explain_json(const Explained& explained);

// `huddle explain --nodes`: what a collective over several nodes would do, and what the MPI's own
// was measured to take.

// --nodes, --ranks-per-node and --map.
class NodesOptions {
 public:
  void declare(Options& options);
  bool given() const { return nodes_ > 0 || ranks_per_node_ > 0 || !map_.empty(); }
  // cores: of a node. Throws UsageError where these do not say who sits where.
  internode::NodeMap map(int cores) const;
  // In words: "in blocks".
  std::string placement() const;

 private:
  bool is_round_robin() const { return map_ == "round-robin"; }

  int nodes_ = 0;
  int ranks_per_node_ = 0;
  std::string map_;
};

// What a collective of an MPI was measured to take.
struct MpiAnswer {
  std::string mpi;
  std::int64_t ns = 0;
  bool is_left_to_it = false;
};

struct NodesExplained {
  select::Request request;
  int ranks = 0;
  int nodes = 0;
  std::string placement;
  picture::Subject subject;  // the machine that each node is
  internode::Network network;
  internode::Prediction prediction;
  std::string forced;  // the algorithm that is asked for between nodes; empty: the cheapest
  std::int64_t by_one_leader_ns = 0;  // the same with one rank of each node between them
  std::string before, after;          // the algorithms in a node; empty: there is no such part
  internode::Sent sent;
  std::vector<MpiAnswer> mpis;  // empty: nobody measured
  std::string left_unmeasured;  // why the call is the MPI's all the same; empty: it is not
};

// in_node: the chosen candidate of the fullest node, of which there is none with one rank.
using InNode = std::function<std::optional<select::Candidate>(const select::Request&)>;
NodesExplained nodes_explained(const select::Request& request, const NodesOptions& options,
                               const picture::Subject& subject, const internode::NodeMap& map,
                               const InNode& in_node, const internode::ForcedAlgorithms& forced,
                               std::optional<internode::Sharing> sharing);

std::string explain_nodes_text(const NodesExplained& explained, const Console& console);
std::string explain_nodes_json(const NodesExplained& explained);

}  // namespace huddle::cli

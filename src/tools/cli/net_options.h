// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Options of commands about schedules between nodes: an operation or one of its algorithms,
// parameters of algorithms, and the placement of ranks on a fabric.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/fabric/fabric.h"
#include "model/fabric/fabric_file.h"
#include "runtime/schedules/algorithms.h"
#include "tools/cli/command.h"

namespace huddle::cli {

// More than any cluster has.
inline constexpr int most_ranks = 1 << 20;

// The options --root, --radix, --segments and --message-blocks.
class NetCallOptions {
 public:
  void declare(Options& options);
  schedules::Call call(int ranks) const;
  int root() const { return root_; }

 private:
  int root_ = 0;
  int radix_ = 2;
  int segments_ = 1;
  int message_blocks_ = 1;
};

// Parses "8", "2..64" or "8,16,32..40". Throws UsageError.
std::vector<int> rank_counts_from(const std::string& text);

// Returns all algorithms for "allgather", and one for "allgather:ring". Throws UsageError.
std::vector<schedules::Algorithm> algorithms_from(const std::string& word);

// Returns operations and algorithms as they are typed.
std::vector<std::string> algorithm_words();

// The options --fabric, --machine and --placement of commands that place ranks on a fabric.
struct PlacementChoice {
  fabric::Placement placement = fabric::Placement::block;
  std::uint64_t seed = 0;
};

class FabricOptions {
 public:
  void declare(Options& options);

  bool given() const { return !fabric_.empty(); }
  // Returns the file; for messages and other programs. Throws InputError for an unknown name.
  std::string file() const;
  bool is_standard_input() const;
  const std::string& placement() const { return placement_; }
  // Throws UsageError for an unknown word.
  PlacementChoice placement_choice() const;

  // Returns the file that replaces the fabric's own machine, if a flag names one: the environment
  // describes the machine on which the command runs. Throws InputError for an unknown name.
  static std::string machine(const Context& context);

  // Throws InputError.
  // Requires: given()
  fabric::Cluster cluster(const Context& context) const;
  // Returns the node of each rank. Throws InputError if there are too few nodes.
  std::vector<int> nodes(const fabric::Cluster& cluster, int ranks) const;

 private:
  std::string fabric_;
  std::string placement_ = "block";
};

}  // namespace huddle::cli

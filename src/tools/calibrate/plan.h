// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The plan of a calibration: what it measures, and the time limit of each step. It is made without
// measuring, so that it can be shown for another machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/machine/topology.h"
#include "runtime/single_copy/peer_memory.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/calibrate/sampling.h"

namespace huddle::calibrate {

enum class StepKind {
  line_pairs,     // every pair of cores, with a cache line per side
  line_clusters,  // some pairs of each cluster that the scan found, measured precisely
  line_level,     // some pairs of a level: with a cache line per side, and with one for both
  flags,          // several readers of one flag, and several writers of one cache line
  copy,
  handoff,
  memory,
  path,
  system,
  arrays,      // the program's own arrays compared with those in the shared heap
  line_again,  // some pairs once more, to detect changes of the machine
};

struct Step {
  StepKind kind = StepKind::system;
  std::string name;                            // "copy, 4 cores of one l3"
  std::string level;                           // the level that the result represents
  std::vector<int> pus;                        // hardware threads that take part
  std::vector<Pair> pairs;                     // lines and hand-offs; paths: reader and peer
  single_copy::PeerPath path;                  // paths
  std::vector<std::size_t> sizes;              // copies, hand-offs, paths: bytes
  std::vector<std::size_t> sizes_past_caches;  // copies: sizes for the non-temporal kernel
  int numa_node = 0;                           // memory
  bool home = false;  // memory: numa_node is the node of the hardware thread
  Extent extent;      // of one measurement
  // Expected time of each measurement on a quiet machine, in order.
  std::vector<double> seconds;
  double setup_seconds = 0;
  double limit_seconds = 0;  // the step ends after this time, even if it is incomplete

  double expected_seconds() const;
};

struct Plan {
  bool quick = false;
  std::vector<int> pus;  // one per core
  std::vector<Step> steps;
  std::vector<std::string> notes;  // what is not measured, and why

  double expected_seconds() const;
  double limit_seconds() const;
};

// With more cores, all pairs are scanned and only some are measured precisely.
inline constexpr std::size_t most_cores_pair_by_pair = 32;

struct PlanRequest {
  machine::CpuSet allowed;
  bool quick = false;
  std::uint64_t usable_memory_bytes = 0;
  single_copy::PeerPaths paths = single_copy::peer_paths();
};

// Throws FailureError if no hardware thread is allowed.
Plan make_plan(const machine::Topology& topology, const PlanRequest& request);

// Returns the time limit of all steps together on a machine with `cores` cores.
double time_limit_seconds(std::size_t cores, bool quick);

// Creates the steps of a plan by kind: their hardware threads, sizes and expected times.
class Planner {
 public:
  // Keeps references to its arguments.
  Planner(const machine::Topology& topology, const PlanRequest& request,
          const std::vector<int>& pus)
      : topology_(topology), request_(request), pus_(pus) {}

  std::vector<Step> lines() const;
  std::vector<Step> flags() const;
  std::vector<Step> copies() const;
  std::vector<Step> handoffs() const;
  std::vector<Step> memory() const;
  std::vector<Step> paths() const;
  std::vector<Step> system() const;
  std::vector<Step> arrays() const;
  std::vector<Step> lines_again() const;

 private:
  Step scan_or_measure_pairs() const;
  Step copy_step(const std::string& level, const std::vector<int>& copiers) const;
  std::string level_of_own_node(const machine::NumaNode& node) const;
  std::vector<const machine::NumaNode*> nearest_nodes(const machine::NumaNode* home) const;
  Step memory_step(const machine::NumaNode* node) const;
  Step path_step(const single_copy::PeerPath& path, std::vector<int> readers,
                 std::vector<Pair> pairs) const;
  std::vector<Step> steps_of(const single_copy::PeerPath& path) const;
  // Returns the levels that measured cores share, innermost first.
  std::vector<std::string> meeting_levels() const;
  std::size_t largest_copy(const std::vector<int>& copiers) const;
  Extent extent(double full_seconds, double quick_seconds, std::size_t least) const;
  std::vector<std::size_t> sizes(const std::vector<std::size_t>& all) const;

  const machine::Topology& topology_;
  const PlanRequest& request_;
  const std::vector<int>& pus_;
};

}  // namespace huddle::calibrate

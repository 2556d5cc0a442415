// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What will be measured, and how long each step may take: computed from the topology alone, so that
// it can be shown for a machine that is not here.
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
  line_pairs,     // every pair of cores, a line each
  line_clusters,  // some pairs of each cluster that the scan of all pairs shows, precisely
  line_level,     // some pairs of a level: a line each, and one line for both
  flags,          // readers of one flag, writers of one line
  copy,
  handoff,
  memory,
  path,
  system,
  arrays,      // the program's own against those in the shared heap
  line_again,  // as at the start: has the machine changed meanwhile?
};

struct Step {
  StepKind kind = StepKind::system;
  std::string name;                            // "copy, 4 cores of one l3"
  std::string level;                           // what the result stands for
  std::vector<int> pus;                        // who takes part
  std::vector<Pair> pairs;                     // lines and hand-offs; paths: a reader and its peer
  single_copy::PeerPath path;                  // paths
  std::vector<std::size_t> sizes;              // copies, hand-offs, paths: bytes
  std::vector<std::size_t> sizes_past_caches;  // copies: those that are also made past the caches
  int numa_node = 0;                           // memory
  bool home = false;                           // memory: it is the processor's own node
  Extent extent;                               // of one measurement
  // What each measurement takes on a quiet machine, in order.
  std::vector<double> seconds;
  double setup_seconds = 0;
  double limit_seconds = 0;  // the step ends then, whatever is missing

  double expected_seconds() const;
};

struct Plan {
  bool quick = false;
  std::vector<int> pus;  // one a core
  std::vector<Step> steps;
  std::vector<std::string> notes;  // what is not measured, and why

  double expected_seconds() const;
  double limit_seconds() const;
};

// Above this many cores pairs are scanned first and only some measured precisely.
inline constexpr std::size_t most_cores_pair_by_pair = 32;

struct PlanRequest {
  machine::CpuSet allowed;
  bool quick = false;
  std::uint64_t usable_memory_bytes = 0;
  single_copy::PeerPaths paths = single_copy::peer_paths();
};

// Throws FailureError when no processor is allowed.
Plan make_plan(const machine::Topology& topology, const PlanRequest& request);

// What all steps together may take on a machine with so many cores.
double time_limit_seconds(std::size_t cores, bool quick);

// The steps of a plan, kind by kind: which processors and sizes, and what each measurement takes.
class Planner {
 public:
  // Keeps references.
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
  // Levels at which measured cores meet, innermost first.
  std::vector<std::string> meeting_levels() const;
  std::size_t largest_copy(const std::vector<int>& copiers) const;
  Extent extent(double full_seconds, double quick_seconds, std::size_t least) const;
  std::vector<std::size_t> sizes(const std::vector<std::size_t>& all) const;

  const machine::Topology& topology_;
  const PlanRequest& request_;
  const std::vector<int>& pus_;
};

}  // namespace huddle::calibrate

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The steps of a plan, kind by kind: which processors and sizes, and what each measurement takes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/calibrate/plan.h"

namespace huddle::calibrate {

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

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Infers the levels of a machine from latencies, for machines whose firmware or hypervisor hides
// them. Cores are clustered, nearest first, by the logarithms of latencies; a step between nested
// clusters counts as a level only if it exceeds the noise. docs/design/machine-model.md gives the
// reasons.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"
#include "model/machine/topology.h"

namespace huddle::machine {

// The samples between two cores, including outliers.
struct PairSamples {
  int a = 0;
  int b = 0;
  std::vector<double> one_way_ns;
};

// Cores that are nearer to each other than to any other core. Children are the next smaller
// clusters; a core that is in no child is a cluster of its own.
struct Cluster {
  CpuSet cpus;
  double one_way_ns = 0;  // between cores in different children
  std::vector<Cluster> children;

  bool operator==(const Cluster&) const = default;
};

// Returns the cluster of all cores. Throws an InputError that names a pair without samples.
Cluster infer_levels(std::span<const PairSamples> samples);

// The same from the latencies in a machine file.
Cluster infer_levels(const LinePairs& pairs);

// Returns the depth of the cluster tree, including the whole machine; 0 for a single core.
int depth(const Cluster& cluster);

// Returns the clusters without the whole machine as levels "inferred1", ..., innermost first.
std::vector<Level> as_levels(const Cluster& cluster);

inline constexpr std::string_view inferred_prefix = "inferred";
// Returns whether a level of this name was inferred. Another calibration may not find it.
inline bool is_inferred(std::string_view level) { return level.starts_with(inferred_prefix); }

// Returns one sentence per disagreement between latencies and firmware; none if they agree.
// Compares the firmware's levels only on the cores that were measured.
std::vector<std::string> differences(const Cluster& inferred, const Topology& topology);

}  // namespace huddle::machine

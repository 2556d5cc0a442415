// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Levels of a machine from latencies alone, for machines whose firmware or hypervisor hides them.
//
// Cores are joined nearest first by logarithms of latencies; a step between two nested clusters
// is a level only if it stands clear of the noise. See docs/design/machine-model.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"
#include "model/machine/topology.h"

namespace huddle::machine {

// What was seen between two cores: every sample, outliers included.
struct PairSamples {
  int a = 0;
  int b = 0;
  std::vector<double> one_way_ns;
};

// Cores that are nearer to each other than to any other core. Children are the next nearer groups;
// cores in no child stand alone in it.
struct Cluster {
  CpuSet cpus;
  double one_way_ns = 0;  // between cores of it that lie in different children
  std::vector<Cluster> children;

  bool operator==(const Cluster&) const = default;
};

// pre: every pair of the cores that appear has samples. Throws InputError naming a missing pair.
Cluster infer_levels(std::span<const PairSamples> samples);

// The same from medians that a machine file keeps.
Cluster infer_levels(const LinePairs& pairs);

// How many levels of clusters lie in the deepest branch, the whole machine counted; 0 for one core.
int depth(const Cluster& cluster);

// The clusters as levels of a topology, innermost first, named "inferred1", ... outward, without
// the whole machine.
std::vector<Level> as_levels(const Cluster& cluster);
// Whether a level of this name was measured: another calibration may not see it.
inline constexpr std::string_view inferred_prefix = "inferred";
inline bool is_inferred(std::string_view level) { return level.starts_with(inferred_prefix); }

// Where latencies and firmware disagree, a sentence each; empty where they agree. The firmware's
// levels are compared on the cores that were measured only.
std::vector<std::string> differences(const Cluster& inferred, const Topology& topology);

}  // namespace huddle::machine

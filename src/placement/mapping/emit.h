// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Writes a placement in the formats of the tools that apply it: OpenMP runtimes and MPI launchers.
// Parses the assignments that users pass on the command line.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/mapping/slots.h"

namespace huddle::mapping {

// The hardware thread that an element uses or has to use. "3=12" is element 3 on hardware thread
// 12, "3=1:12" is the same on node 1.
struct Assignment {
  int element = 0;
  Slot slot;

  bool operator==(const Assignment&) const = default;
};

// Parses a list separated by commas. Throws UsageError that quotes the invalid part.
std::vector<Assignment> parse_assignments(std::string_view text);

// Read one or more assignments per line, with # comments. Throw InputError "FILE:LINE: message".
std::vector<Assignment> read_assignments(const std::string& path);
std::vector<Assignment> parse_assignment_lines(std::string_view text, const std::string& name);

enum class Emission {
  omp_places,
  gomp,
  taskset,
  openmpi4,
  prrte,
  hydra,
  intel,
  srun_map_cpu,
  srun_arbitrary,
  cray_rank_order,
  hostfile
};

struct EmissionInfo {
  Emission emission;
  std::string_view name;
  std::string_view what;
  bool read_back;  // tested with the real launcher: the ranks ran where they should
};
std::span<const EmissionInfo> emissions();

// Throws UsageError that suggests the most similar name.
Emission emission_named(std::string_view name);

struct EmittedPlacement {
  std::vector<Slot> seats;  // by element
  int nodes = 1;
  std::vector<std::string> hosts = {};  // by node; empty: "localhost", or "node0", "node1"...
  // Index of each hardware thread of a node in topology order, like hwloc's logical index.
  std::vector<int> logical = {};
};

// Throws UsageError if the format cannot express the placement.
std::string emit(Emission emission, const EmittedPlacement& seating);

}  // namespace huddle::mapping

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A placement in the words of those who carry it out: OpenMP runtimes and MPI launchers.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/mapping/slots.h"

namespace huddle::mapping {

// "3=12": element 3 on processor 12; "3=1:12": on processor 12 of node 1. How people say where
// somebody sits or has to sit.
struct Assignment {
  int element = 0;
  Slot slot;

  bool operator==(const Assignment&) const = default;
};

// Separated by commas. Throws UsageError that quotes what it could not read.
std::vector<Assignment> parse_assignments(std::string_view text);

// One or several a line, # comments. Throws InputError "FILE:LINE: what is wrong".
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
  bool read_back;  // tried with the real launcher, and where ranks ran was read back
};
std::span<const EmissionInfo> emissions();

// Throws UsageError that names the nearest.
Emission emission_named(std::string_view name);

struct Seating {
  std::vector<Slot> seats;  // by element
  int nodes = 1;
  std::vector<std::string> hosts = {};  // by node; empty: "localhost", or "node0", "node1"...
  // By processor of a node: its number in the order of the tree, as hwloc's logical numbers are.
  std::vector<int> logical = {};
};

// Throws UsageError where that format cannot say it.
std::string emit(Emission emission, const Seating& seating);

}  // namespace huddle::mapping

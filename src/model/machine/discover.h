// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reads the topology of this machine, or of one that was recorded, with hwloc. The only file of the
// project that talks to hwloc is discover.cc.
#pragma once

#include <string>

#include "model/machine/topology.h"

namespace huddle::machine {

struct Discovery {
  Topology topology;  // the whole machine, whether allowed or not
  CpuSet allowed;     // where this process may run: cgroup and affinity mask together
};

// This machine. Throws FailureError when hwloc cannot read it.
Discovery discover_this_machine();

// A file written by `lstopo --of xml` or hwloc_topology_export_xml. Throws InputError naming it.
Discovery discover_from_xml(const std::string& path);

// hwloc's synthetic description, such as "pack:2 numa:4 l3:2 core:8 pu:1". Throws InputError.
Discovery discover_from_synthetic(const std::string& description);

}  // namespace huddle::machine

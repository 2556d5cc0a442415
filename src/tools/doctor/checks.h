// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The checks of `huddle doctor`, by group. Each examines the given system, or probes this one, and
// returns findings. The checks change nothing; examine() also repairs what killed agents left.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/system.h"
#include "model/machine/machine.h"
#include "model/machine/topology.h"
#include "placement/threads/page_faults.h"
#include "placement/threads/state_folder.h"
#include "tools/doctor/doctor.h"

namespace huddle::doctor {

// Returns the hardware threads that are online.
machine::CpuSet online_processors(const System& system);
// Returns the hardware threads that this process may use: its affinity mask, which the kernel keeps
// within the cpuset.
machine::CpuSet allowed_processors(const System& system);

// Returns the finding on the shared heap, which is on by default if the calibration of this machine
// shows no cost. `system` provides the remedy.
Finding judge_heap(const machine::Machine& machine, const System& system);

// State of memfd_create and /dev/shm.
struct ShmFacts {
  int memfd_error = 0;  // errno of memfd_create; 0 if it works
  bool folder = false;  // /dev/shm exists
  bool writable = false;
  double size_bytes = 0;  // 0 if unknown
  double free_bytes = 0;
};

std::vector<Finding> judge_shared_memory(const ShmFacts& facts);

// Group of the findings on the limits of this process and of its cgroup.
inline constexpr std::string_view limits_group = "Limits";

// Tests with two sibling processes, like the ranks of a node, whether one can access the other's
// memory and descriptors. Also checks Yama.
std::vector<Finding> check_siblings(const System& system);
// Checks for the kernel modules KNEM and XPMEM.
std::vector<Finding> check_copy_modules(const System& system);
// Checks memfd_create and /dev/shm.
std::vector<Finding> check_shared_memory(const System& system);
// Checks transparent huge pages of shared memory, then of private memory.
std::vector<Finding> check_huge_pages(const System& system);
// Check the hardware threads that may be used, the cgroup's limits and this process's limits.
std::vector<Finding> check_processors(const System& system);
std::vector<Finding> check_cgroup(const System& system);
std::vector<Finding> check_limits(const System& system);
// Checks kernel activity that disturbs programs, and restrictions: NUMA balancing, scheduling,
// clock, perf events.
std::vector<Finding> check_kernel(const System& system);
// The mechanisms for watching threads, as tried on this process.
struct WaysToWatch {
  threads::Trial page_faults, protection, soft_dirty, bpf;
  threads::Repaired repaired;  // what killed agents had left
};
std::vector<Finding> check_watching(const WaysToWatch& ways, const System& system);
// Checks whether this is bare metal, a virtual machine or a container. `calibrated`: the machine
// file in use was measured on this machine, so that the information from the hypervisor does not
// matter.
std::vector<Finding> check_host(const System& system, bool calibrated);
// Finds MPI launchers in these folders, and MPI libraries that the loader knows.
std::vector<Finding> check_mpi(const std::vector<std::string>& folders);
// Findings on the calibration of this machine and on the consequences of its figures.
struct MachineFileCheck {
  std::vector<Finding> findings;
  bool is_calibrated = false;  // the machine file in use was measured on this machine
};
MachineFileCheck check_machine_file(const NamedFile& named, const System& system);

}  // namespace huddle::doctor

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The checks, group by group. Each looks at the system it is given, or probes this one, and says
// what it found; none changes anything.
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

// Which processors there are and which of them this process may use, as the kernel lists them.
machine::CpuSet online_processors(const System& system);
// By affinity mask and cpuset together: the kernel keeps the one inside the other.
machine::CpuSet allowed_processors(const System& system);

// Whether ranks reach into each other's arrays here.

// By what was measured on that machine, this one; the system says what could be done about it.
Finding judge_heap(const machine::Machine& machine, const System& system);

// What there is to share memory with.
struct ShmFacts {
  int memfd_error = 0;  // of memfd_create; 0: it works
  bool folder = false;  // /dev/shm is there
  bool writable = false;
  double size_bytes = 0;  // 0: not known
  double free_bytes = 0;
};

std::vector<Finding> judge_shared_memory(const ShmFacts& facts);

// The group of findings about the limits of this process and of its cgroup.
inline constexpr std::string_view limits_group = "Limits";

// Two processes that a third has started, as the ranks of a node are: memory, descriptors, Yama.
std::vector<Finding> check_siblings(const System& system);
// KNEM and XPMEM.
std::vector<Finding> check_copy_modules(const System& system);
// memfd_create and /dev/shm.
std::vector<Finding> check_shared_memory(const System& system);
// Transparent huge pages: first of shared, then of private memory.
std::vector<Finding> check_huge_pages(const System& system);
// Processors that may be used, the cgroup's limits, this process's limits.
std::vector<Finding> check_processors(const System& system);
std::vector<Finding> check_cgroup(const System& system);
std::vector<Finding> check_limits(const System& system);
// What the kernel does behind the program's back: NUMA balancing, scheduling, clock, perf events.
std::vector<Finding> check_kernel(const System& system);
// How threads can be watched, as trials on this process have shown.
struct WaysToWatch {
  threads::Trial page_faults, protection, soft_dirty, bpf;
  threads::Repaired repaired;  // what an agent that was killed had left
};
std::vector<Finding> check_watching(const WaysToWatch& ways, const System& system);
// Bare metal, virtual machine, container. `calibrated`: the machine file in force was measured
// here, so that nothing hangs on what a hypervisor tells.
std::vector<Finding> check_host(const System& system, bool calibrated);
// MPI launchers in these folders, and MPI libraries that the loader knows.
std::vector<Finding> check_mpi(const std::vector<std::string>& folders);
// Whether this machine is calibrated, and how well; then what follows from its figures.
struct MachineFileCheck {
  std::vector<Finding> findings;
  bool is_calibrated = false;  // the machine file in force was measured here
};
MachineFileCheck check_machine_file(const NamedFile& named, const System& system);

}  // namespace huddle::doctor

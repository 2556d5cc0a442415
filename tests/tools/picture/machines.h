// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Machines for the tests of pictures.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "tools/picture/picture.h"

namespace huddle::picture {

inline machine::CpuSet cpus(int first, int count, int step = 1) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(first + i * step);
  return machine::CpuSet(numbers);
}

// Uses round latencies that do not change with the generic constants.
inline machine::Machine with_latencies(const machine::Topology& topology) {
  machine::Machine machine;
  machine.topology = topology;
  double ns = 10;
  for (const std::string& level : machine::joining_levels(topology)) {
    machine.line.push_back({level, ns, ns * 1.5, 1, 1, 0.03, machine::Origin::estimated});
    ns *= 2;
  }
  return machine;
}

inline Subject synthetic(const std::string& description) {
  const machine::Discovery discovery = machine::discover_from_synthetic(description);
  Subject subject{with_latencies(discovery.topology), discovery.allowed, ""};
  subject.machine.name = description;
  return subject;
}

// Returns a hybrid machine: 2 cores with 2 threads each, then 4 single-threaded ones that share an
// L2. Two hardware threads are offline, one NUMA node is memory-only, and the small cores are not
// allowed.
inline Subject hybrid() {
  machine::Topology topology;
  topology.cpu_model = "Hybrid 1000";
  topology.pus = cpus(0, 8);
  topology.offline = cpus(8, 2);
  topology.levels = {
      {"core", {cpus(0, 2), cpus(2, 2), cpus(4, 1), cpus(5, 1), cpus(6, 1), cpus(7, 1)}, {}},
      {"l2", {cpus(0, 2), cpus(2, 2), cpus(4, 4)}, {1 << 20, 1 << 20, 4 << 20}},
      {"l3", {cpus(0, 8)}, {24 << 20}}};
  topology.numa = {{0, cpus(0, 8), std::uint64_t{16} << 30, false, "dram"},
                   {1, cpus(0, 8), std::uint64_t{4} << 30, true, "hbm"}};
  topology.kinds = {{"efficient", 0, cpus(4, 4)}, {"performance", 1, cpus(0, 4)}};
  Subject subject{with_latencies(topology), cpus(0, 4), ""};
  subject.machine.name = "hybrid";
  return subject;
}

// Generates any tree: up to five levels, contiguous or interleaved numbers, some levels with gaps.
inline machine::Topology any_topology() {
  const int smt = *rc::gen::inRange(1, 5);
  const int cores = *rc::gen::inRange(1, 10);
  const int caches = *rc::gen::inRange(1, 3);
  const int nodes = *rc::gen::inRange(1, 3);
  const int packages = *rc::gen::inRange(1, 5);
  const bool interleaved = *rc::gen::arbitrary<bool>();
  const int all_cores = cores * caches * nodes * packages;
  const auto group = [&](int first_core, int count) {
    std::vector<int> numbers;
    for (int core = first_core; core < first_core + count; ++core) {
      for (int thread = 0; thread < smt; ++thread) {
        numbers.push_back(interleaved ? thread * all_cores + core : core * smt + thread);
      }
    }
    return machine::CpuSet(numbers);
  };
  machine::Topology topology;
  topology.cpu_model = "Any";
  topology.pus = group(0, all_cores);
  const std::vector<std::pair<std::string, int>> sizes = {{"core", 1},
                                                          {"l2", 1},
                                                          {"l3", cores},
                                                          {"numa", cores * caches},
                                                          {"package", cores * caches * nodes}};
  for (const auto& [name, size] : sizes) {
    machine::Level level{name, {}, {}};
    const bool with_holes = *rc::gen::inRange(0, 6) == 0;
    for (int first = 0; first < all_cores; first += size) {
      if (with_holes && *rc::gen::inRange(0, 3) == 0) continue;
      level.groups.push_back(group(first, size));
      if (name[0] == 'l') level.bytes.push_back(1U << 20U);
    }
    std::sort(level.groups.begin(), level.groups.end());
    if (!level.groups.empty()) topology.levels.push_back(level);
  }
  if (*rc::gen::arbitrary<bool>()) topology.numa = {{7, {}, std::uint64_t{8} << 30, true, "cxl"}};
  if (*rc::gen::arbitrary<bool>()) topology.offline = cpus(all_cores * smt, 3);
  machine::validate(topology);
  return topology;
}

inline machine::CpuSet any_allowed(const machine::Topology& topology) {
  std::vector<int> allowed;
  for (const int cpu : topology.pus) {
    if (*rc::gen::arbitrary<bool>()) allowed.push_back(cpu);
  }
  return machine::CpuSet(allowed);
}

}  // namespace huddle::picture

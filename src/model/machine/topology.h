// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The topology of a machine: its hardware threads and, level by level, the groups of them that
// share a resource. It is plain data, which comes from hwloc (discover.cc), from a machine file, or
// from measured latencies (infer.h).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace huddle::machine {

// A set of hardware threads by OS index, with the text format of Linux: "0-3,8".
class CpuSet {
 public:
  CpuSet() = default;
  // The numbers may be in any order and repeated. Requires: all numbers are at least 0.
  explicit CpuSet(std::vector<int> cpus);

  // Parses "0-3,8" or "" for the empty set. Throws an InputError that quotes the invalid text.
  static CpuSet parse(std::string_view text);
  std::string text() const;

  bool empty() const { return cpus_.empty(); }
  int count() const { return static_cast<int>(cpus_.size()); }
  int first() const { return cpus_.front(); }  // requires: not empty
  bool contains(int cpu) const;
  bool contains(const CpuSet& other) const;
  bool intersects(const CpuSet& other) const;

  // Returns the OS indices in ascending order.
  const std::vector<int>& cpus() const { return cpus_; }
  auto begin() const { return cpus_.begin(); }
  auto end() const { return cpus_.end(); }

  auto operator<=>(const CpuSet&) const = default;

 private:
  std::vector<int> cpus_;
};

CpuSet united(const CpuSet& a, const CpuSet& b);
CpuSet common(const CpuSet& a, const CpuSet& b);
CpuSet without(const CpuSet& a, const CpuSet& b);

// A level, such as a cache level: the hardware threads of each group share one such resource.
// Groups are disjoint; they need not cover the machine (hybrid processors, uneven trees).
struct Level {
  std::string name;            // core, l1, l2, l3, l4, die, group, numa, package; unique
  std::vector<CpuSet> groups;  // in the order of their first hardware thread
  // For cache levels the capacity of each group's cache in bytes; otherwise empty.
  std::vector<std::uint64_t> bytes;

  bool operator==(const Level&) const = default;
};

struct NumaNode {
  int number = 0;            // OS index
  CpuSet cpus;               // hardware threads to which this memory is local
  std::uint64_t bytes = 0;   // 0 if unknown
  bool memory_only = false;  // not the home node of any hardware thread: HBM or CXL memory
  std::string kind;          // "dram", "hbm", "cxl", from the firmware; may be empty

  bool operator==(const NumaNode&) const = default;
};

// A kind of core of a hybrid processor. Machines with only one kind of core have none of these.
struct CoreKind {
  std::string name;    // "performance", "efficient", or the name that the processor reports
  int efficiency = 0;  // higher for faster cores, as in hwloc
  CpuSet cpus;

  bool operator==(const CoreKind&) const = default;
};

// The name of the outermost level, which contains all hardware threads and is not listed.
inline constexpr std::string_view whole_machine = "machine";

struct Topology {
  std::string cpu_model;  // "AMD EPYC 9554"; empty if unknown
  CpuSet pus;             // online hardware threads, whether this process may use them or not
  CpuSet offline;
  std::vector<Level> levels;  // innermost first; groups of different levels are nested or disjoint
  std::vector<NumaNode> numa;
  // The firmware's NUMA distances (SLIT), row by row in the order of `numa`; may be empty.
  std::vector<double> numa_distances;
  std::vector<CoreKind> kinds;

  bool operator==(const Topology&) const = default;
};

// An invalid value and its place: `section` is named as in the machine file ("line", "copy",
// "topology.level"), and `index` is the number of the entry there, from 0.
class Flaw : public InputError {
 public:
  Flaw(std::string section, std::size_t index, const std::string& message)
      : InputError(message), section_(std::move(section)), index_(index) {}
  const std::string& section() const { return section_; }
  std::size_t index() const { return index_; }

 private:
  std::string section_;
  std::size_t index_;
};

// Larger than on any shared-memory machine. These limits prevent invalid files from exhausting
// memory.
inline constexpr int most_processors = 8192;
inline constexpr int most_levels = 64;

// Throws Flaw if the topology is not a tree: overlapping groups, a group that crosses an outer one,
// hardware threads that do not exist, counts that do not match.
void validate(const Topology& topology);

// Returns null if there is no level of that name.
const Level* find_level(const Topology& topology, std::string_view name);

// A lookup table of the group of each hardware thread at each level. It is a snapshot and does not
// follow later changes of the topology.
class GroupIndex {
 public:
  static constexpr int no_group = -1;

  // Requires: the groups of each level are disjoint and contain only existing hardware threads.
  explicit GroupIndex(const Topology& topology);

  std::size_t levels() const { return levels_; }
  int group(std::size_t level, int pu) const {
    return group_of_[static_cast<std::size_t>(pu) * levels_ + level];
  }
  // Returns the innermost level at which both are in the same group, or levels() if there is none.
  std::size_t joining_level(int a, int b) const;

 private:
  std::size_t levels_;
  // [hardware thread][level]: a choice of an algorithm compares many pairs of hardware threads.
  std::vector<int> group_of_;
};

// Returns the index in topology.levels of the innermost level at which a and b are in the same
// group (their joining level), or levels.size() if there is none. Requires: a != b, both in pus.
std::size_t joining_level(const Topology& topology, int a, int b);
// Returns the name of that level, or "machine".
std::string_view joining_level_name(const Topology& topology, int a, int b);

// Returns the names of the levels that are the joining level of at least one pair, innermost first.
// A machine file must contain latencies for them. Omits levels whose groups are those of an inner
// level.
std::vector<std::string> joining_levels(const Topology& topology);

// Returns the first hardware thread of each core, in ascending order.
std::vector<int> first_pu_of_cores(const Topology& topology);
int core_count(const Topology& topology);

// Returns the home node of a hardware thread: the smallest node that contains it and is not
// memory-only. Returns null if there is none.
const NumaNode* home_node(const Topology& topology, int pu);

// Returns the name of a kind of machine: "<model>-<cores>c-<8 hex digits>". Depends only on the
// processor model and the tree, so it does not change with cgroups, memory sizes or reboots.
std::string fingerprint(const Topology& topology);

// A topology read with hwloc. discover.cc is the only file of the project that uses hwloc.
struct Discovery {
  Topology topology;  // the whole machine, whether allowed or not
  CpuSet allowed;     // allowed for this process by its cgroup and affinity mask
};

// Reads this machine. Throws FailureError if hwloc cannot.
Discovery discover_this_machine();

// Reads XML that lstopo or hwloc_topology_export_xml() wrote. Throws an InputError with the path.
Discovery discover_from_xml(const std::string& path);

// Builds hwloc's synthetic topologies, such as "pack:2 numa:4 l3:2 core:8 pu:1". Throws InputError.
Discovery discover_from_synthetic(const std::string& description);

}  // namespace huddle::machine

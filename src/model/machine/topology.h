// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the machine is: its processors and, level by level, which of them share something.
//
// A topology is plain data. It comes from hwloc (discover.h), from a machine file, or from measured
// latencies (infer.h), and is the same thing afterwards.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace huddle::machine {

// A set of processor numbers (the operating system's), written as Linux writes it: "0-3,8".
class CpuSet {
 public:
  CpuSet() = default;
  // pre: every number is 0 or more; order and repetition do not matter.
  explicit CpuSet(std::vector<int> cpus);

  // "0-3,8" or "" for the empty set. Throws InputError that quotes what it could not read.
  static CpuSet parse(std::string_view text);
  std::string text() const;

  bool empty() const { return cpus_.empty(); }
  int count() const { return static_cast<int>(cpus_.size()); }
  int first() const { return cpus_.front(); }  // pre: not empty
  bool contains(int cpu) const;
  bool contains(const CpuSet& other) const;
  bool intersects(const CpuSet& other) const;

  // In rising order.
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

// One level of sharing: the processors of a group share this thing, others do not. Groups of a
// level are disjoint; they need not cover the machine (hybrid processors, uneven trees).
struct Level {
  std::string name;            // core, l1, l2, l3, l4, die, group, numa, package; unique
  std::vector<CpuSet> groups;  // in the order of their first processor
  // Cache levels: the capacity of each group's cache in bytes, parallel to groups; otherwise empty.
  std::vector<std::uint64_t> bytes;

  bool operator==(const Level&) const = default;
};

struct NumaNode {
  int number = 0;            // the operating system's
  CpuSet cpus;               // processors to which this memory is local
  std::uint64_t bytes = 0;   // 0: not known
  bool memory_only = false;  // no processor calls it home: high-bandwidth or CXL memory
  std::string kind;          // "dram", "hbm", "cxl", as the firmware says; may be empty

  bool operator==(const NumaNode&) const = default;
};

// Hybrid processors: cores of one kind. A machine with one kind of core has none of these.
struct CoreKind {
  std::string name;    // "performance", "efficient", or the processor's own word
  int efficiency = 0;  // rises with performance
  CpuSet cpus;

  bool operator==(const CoreKind&) const = default;
};

// The name of the outermost level, which holds every processor and is not listed.
inline constexpr std::string_view whole_machine = "machine";

struct Topology {
  std::string cpu_model;  // "AMD EPYC 9554"; empty: not known
  CpuSet pus;             // online hardware threads, allowed to us or not
  CpuSet offline;
  std::vector<Level> levels;  // innermost first; a group lies wholly inside one of each outer level
  std::vector<NumaNode> numa;
  // Firmware's distances between NUMA nodes (SLIT), row by row in the order of `numa`; may be
  // empty.
  std::vector<double> numa_distances;
  std::vector<CoreKind> kinds;

  bool operator==(const Topology&) const = default;
};

// What cannot be, and where: `section` as in the machine file ("line", "copy", "topology.level"),
// `index` the number of the entry there, from 0.
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

// More than any machine with one memory has; keeps a damaged file from asking for all of ours.
inline constexpr int most_processors = 8192;
inline constexpr int most_levels = 64;

// Throws Flaw when the tree is not one: overlapping groups, a group that crosses an outer
// one, processors that do not exist, counts that do not match.
void validate(const Topology& topology);

const Level* find_level(const Topology& topology, std::string_view name);

// Which group of each level a processor is in, looked up at once. A snapshot: it does not follow
// later changes of the topology.
class GroupIndex {
 public:
  static constexpr int no_group = -1;

  // pre: groups of a level are disjoint and name existing processors.
  explicit GroupIndex(const Topology& topology);

  std::size_t levels() const { return group_of_.size(); }
  int group(std::size_t level, int pu) const {
    return group_of_[level][static_cast<std::size_t>(pu)];
  }
  // The innermost level in which both share a group; levels() where only the machine holds both.
  std::size_t joining_level(int a, int b) const;

 private:
  std::vector<std::vector<int>> group_of_;  // [level][processor]
};

// The index in topology.levels of the innermost level in which a and b share a group, or
// levels.size() where only the machine holds both. pre: a != b, both in pus.
std::size_t joining_level(const Topology& topology, int a, int b);
// The same as a name: a level's, or "machine".
std::string_view joining_level_name(const Topology& topology, int a, int b);

// Names of those levels that join at least one pair of processors, innermost first; what a machine
// file must give latencies for. A level whose groups repeat an inner level's joins none.
std::vector<std::string> joining_levels(const Topology& topology);

// The first hardware thread of each core, in rising order.
std::vector<int> first_pu_of_cores(const Topology& topology);
int core_count(const Topology& topology);

// The node whose memory is local to this processor: the smallest one with processors of its own
// that contains it. Null where no node says so.
const NumaNode* home_node(const Topology& topology, int pu);

// Names a kind of machine: "<model>-<cores>c-<8 hex digits>". Equal for equal processor model and
// tree; the allowed set, memory sizes and anything that changes from boot to boot stay out of it.
std::string fingerprint(const Topology& topology);

// Reads the topology of this machine, or of one that was recorded, with hwloc. The only file of the
// project that talks to hwloc is discover.cc.
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

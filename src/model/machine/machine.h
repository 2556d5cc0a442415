// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The machine model as data: what a machine is, and what was measured, published or estimated of
// it. This is what a machine file holds; cost.h answers questions from it.
//
// Times are nanoseconds, sizes bytes, rates bytes a nanosecond (GB/s). A `level` is the name of the
// innermost topology level that two processors share, or "machine".
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/topology.h"

namespace huddle::machine {

// A measured relation between a size and a time: points, and straight lines between them.
struct Curve {
  std::vector<double> bytes;   // strictly rising, positive
  std::vector<double> ns;      // positive, parallel to bytes
  std::vector<double> spread;  // relative half-width of what was seen; empty: not known

  bool operator==(const Curve&) const = default;
};

// The time at a size. Made monotone first: a larger size never takes less. Straight lines between
// points; below the first point the first line goes on towards its fixed cost at no bytes (never
// below 0); beyond the last point at the rate of the last two points, or of the last point alone
// where that is slower. pre: the curve has a point.
double time_at(const Curve& curve, double bytes);

// Bytes a nanosecond (which is GB/s) at each point.
std::vector<double> rates(const Curve& curve);

// How far a figure may be trusted.
enum class Origin { measured, published, estimated };
inline constexpr std::array<std::string_view, 3> origin_names = {"measured", "published",
                                                                 "estimated"};

// Who measured what, when, and in what state the machine was. Hardware words only: never the name
// of a host or of a user.
struct Provenance {
  std::string tool;                  // "huddle 0.1.0"; empty for files written by hand
  std::string date;                  // UTC, "2026-11-20T10:00:00Z"
  std::string kernel;                // "Linux 6.1.0"
  std::string governor;              // cpufreq's, or "none"
  std::string smt;                   // "on", "off", "absent"
  std::string numa_balancing;        // "on", "off", "absent"
  std::string hypervisor;            // "" on bare metal
  std::string method;                // how the figures came about, in a sentence
  std::vector<std::string> sources;  // papers and data sheets

  bool operator==(const Provenance&) const = default;
};

// One cache line on its way between two cores.
struct LineCost {
  std::string level;
  double one_way_ns = 0;      // each side writes a line of its own: half the round trip
  double shared_ns = 0;       // both sides write the same line: half the round trip
  double reader_step_ns = 0;  // each further reader that waits for the same line
  double writer_step_ns = 0;  // each further writer whose flag lies in the same line
  double spread = 0;          // relative
  Origin origin = Origin::estimated;
  // Of the two steps: they take three cores to be seen.
  Origin steps_origin = Origin::estimated;

  bool operator==(const LineCost&) const = default;
};

// One-way latency for each pair of processors that was measured; symmetric.
struct LinePairs {
  std::vector<int> pus;            // rising
  std::vector<double> one_way_ns;  // pus.size() squared, row by row; the diagonal is 0
  std::string sampling;            // "every pair", or how the rest was filled in

  bool operator==(const LinePairs&) const = default;
};

// Copying data of one's own, again and again, while others do the same.
struct CopyCurve {
  std::string level;  // the copiers share a group of this level ("core": a single copier, alone)
  int copiers = 1;    // how many copy at once, this one counted
  Curve curve;        // bytes: what one copy moves, so the working set is twice that
  Origin origin = Origin::estimated;

  bool operator==(const CopyCurve&) const = default;
};

// What is measured of a block's way from one core to another through shared memory.
enum class HandoffKind {
  write_cached,              // plain stores to lines that the peer has cached
  write_cached_nontemporal,  // the same with non-temporal stores
  read_dirty,                // reading lines that the peer has just written
  ring,                      // both at once, block by block through a ring, plain stores
  ring_nontemporal,          // the same with non-temporal stores
  ring_rep_movsb,            // the same by the processor's own string copy
  ring_prefetch_write,       // the same with lines asked for ahead of the stores
  write_ping_pong,           // plain stores to lines that the peer wrote and the writer has read
  write_reader_owned,        // plain stores to lines that the peer has read and stored to since
  read_and_own,              // reading lines that the peer has just written, and storing to them
  ring_reader_owned,         // a ring with plain stores whose reader does so
  write_interleaved,         // as write_cached, several pages side by side
  read_interleaved,          // as read_dirty, several pages side by side
  ring_interleaved,          // a ring of both
};
// Which side of the way that is.
enum class HandoffPart {
  write,  // until the writer has stored it
  read,   // until the reader has it, once it is written
  ring,   // both at once, block by block
};
// Of each kind, in the order of the enumeration: its name in machine files, and what it is
// estimated to take where nobody has measured it, between cores that share a cache.
struct HandoffFacts {
  std::string_view name;
  HandoffPart part;
  double bytes_per_ns;
  double start_ns;  // beside the way of a line
  // What older machine files call it; empty: the same.
  std::string_view former_name = {};
};
inline constexpr double memory_near_ns = 100;
// Writing lines that a peer has cached is what bounds copy-in/copy-out; reading them is cheap. To
// write past the caches is twice as fast on some processors and half as fast on others, and what
// was written so is first had from memory: it is never better until it was measured. Not every
// processor hands a line over together with the right to write it, and not to every one does it
// matter who has only read.
inline constexpr std::array<HandoffFacts, 14> handoff_facts = {{
    {"write_cached", HandoffPart::write, 8, 0},
    {"write_cached_nontemporal", HandoffPart::write, 8, memory_near_ns},
    {"read_dirty", HandoffPart::read, 25, 0},
    {"ring", HandoffPart::ring, 7, 0},
    {"ring_nontemporal", HandoffPart::ring, 7, memory_near_ns},
    {"ring_rep_movsb", HandoffPart::ring, 7, 0},
    {"ring_prefetch_write", HandoffPart::ring, 7, 0},
    {"write_ping_pong", HandoffPart::write, 8, 0, "write_returned"},
    {"write_reader_owned", HandoffPart::write, 8, 0, "write_taken"},
    {"read_and_own", HandoffPart::read, 20, 0, "read_taking"},
    {"ring_reader_owned", HandoffPart::ring, 6.5, 0, "ring_taken"},
    {"write_interleaved", HandoffPart::write, 8, 0, "write_abreast"},
    {"read_interleaved", HandoffPart::read, 25, 0, "read_abreast"},
    {"ring_interleaved", HandoffPart::ring, 7, 0, "ring_abreast"},
}};
constexpr const HandoffFacts& facts_of(HandoffKind kind) {
  return handoff_facts[static_cast<std::size_t>(kind)];
}
inline constexpr auto handoff_names = [] {
  std::array<std::string_view, handoff_facts.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = handoff_facts[i].name;
  return names;
}();
// pre: there is such a kind; what names another one at compile time does not compile.
constexpr HandoffKind handoff_kind(std::string_view name) {
  std::size_t number = 0;
  while (handoff_facts[number].name != name) ++number;
  return static_cast<HandoffKind>(number);
}

struct HandoffCurve {
  std::string level;
  HandoffKind kind = HandoffKind::ring;
  Curve curve;
  Origin origin = Origin::estimated;

  bool operator==(const HandoffCurve&) const = default;
};

// Memory of a NUMA node as a core sees it that shares `level` with the node's own cores.
struct MemoryCost {
  std::string level;
  double load_ns = 0;      // one dependent load that misses every cache
  double copy_factor = 1;  // time of a copy from there over the same copy from local memory
  Origin origin = Origin::estimated;

  bool operator==(const MemoryCost&) const = default;
};

// A way through the kernel or a driver into a peer's memory.
struct PathCurve {
  std::string path;  // "cma"
  int copiers = 1;
  Curve curve;
  Origin origin = Origin::estimated;
  // Where a reader and its peer meet; empty: they are spread over the machine.
  std::string level = {};

  bool operator==(const PathCurve&) const = default;
};

// What the operating system charges.
enum class SystemCall { page_fault, futex_wake, yield, map_segment, map_page };
inline constexpr std::array<std::string_view, 5> system_call_names = {
    "page_fault", "futex_wake", "yield", "map_segment", "map_page"};

struct SystemCost {
  SystemCall call = SystemCall::yield;
  double ns = 0;
  double spread = 0;
  Origin origin = Origin::estimated;

  bool operator==(const SystemCost&) const = default;
};

// Where a program's arrays may lie: wherever its malloc puts them, or in the shared heap.
enum class ArrayPlace { program, heap };
inline constexpr std::array<std::string_view, 2> array_place_names = {"program", "heap"};

// What arrays cost a core alone that are far larger than its caches: they differ by their pages.
struct ArrayCost {
  ArrayPlace place = ArrayPlace::program;
  double load_ns = 0;    // one of many loads from anywhere in it, none of which waits for another
  double stream_ns = 0;  // a line of a[i] = b[i] + 3 c[i]
  double spread = 0;     // relative, of the less steady of the two
  Origin origin = Origin::estimated;

  bool operator==(const ArrayCost&) const = default;
};

// A message between two nodes beneath one switch. What lies between switches, a fabric says.
struct Network {
  std::string name;
  int rails = 1;             // cards a node
  Curve curve;               // one message alone, from the sender's call until it is received
  double gap_ns = 0;         // between two messages of one card
  double node_gb_per_s = 0;  // what all cards of a node carry together
  Origin origin = Origin::estimated;
  double cpu_ns = 0;  // of that time, what a processor is busy with: each side as much
  // From so many bytes on the sender waits until the receiver is there; nothing: it never does.
  std::optional<double> rendezvous_bytes = {};
  // Where two send to each other, what that takes by what one of them alone takes.
  std::optional<double> both_ways = {};
  // In pieces of so much they do that sooner: the words of a rendezvous wait behind the other way's
  // data. Nothing: whole messages are as good.
  std::optional<double> piece_bytes = {};

  bool operator==(const Network&) const = default;
};

// Collectives whose time an MPI's own way is measured to take between nodes.
inline constexpr std::array<std::string_view, 11> collective_names = {
    "barrier",  "bcast",  "reduce",  "allreduce",      "allgather",           "allgatherv",
    "alltoall", "gather", "scatter", "reduce_scatter", "reduce_scatter_block"};

// A collective of an MPI's own, over several nodes.
struct MpiCollective {
  std::string mpi;        // as its library says it: "Open MPI v4.1.4"
  std::string operation;  // one of collective_names
  int hosts = 2;
  int ranks = 2;         // of all hosts
  bool in_order = true;  // the ranks of each host follow each other
  Curve curve;  // bytes: of one rank's data, of a block where blocks are moved; a barrier's: 1
  Origin origin = Origin::measured;

  bool operator==(const MpiCollective&) const = default;
};

// A measurement that did not come out steady, and what was seen.
struct Doubt {
  std::string what;
  std::string why;

  bool operator==(const Doubt&) const = default;
};

struct Machine {
  std::string name;  // "xeon-e5-2620v4-2s"
  Topology topology;
  Provenance provenance;
  int line_bytes = 64;
  std::vector<LineCost> line;  // one a joining level
  std::optional<LinePairs> pairs;
  std::vector<CopyCurve> copy;
  // The same by stores past the caches; empty where nobody has measured them.
  std::vector<CopyCurve> copy_past_caches;
  std::vector<HandoffCurve> handoff;
  std::vector<MemoryCost> memory;
  std::vector<PathCurve> paths;
  std::vector<SystemCost> system;
  std::vector<ArrayCost> arrays;  // of both places, or none where nobody has measured
  std::vector<Network> networks;
  std::vector<MpiCollective> mpi_collectives;
  std::vector<Doubt> doubts;

  bool operator==(const Machine&) const = default;
};

// Throws Flaw at the first thing that cannot be: a negative time, a level that the topology does
// not have, a joining level without a latency, a matrix of the wrong size, sizes that do not rise.
void validate(const Machine& machine);

// True where anything in it was measured on a machine of this kind.
bool calibrated(const Machine& machine);

// Tells full calibrations from quick and unsteady ones.
enum class Calibration { none, quick, full };
inline constexpr std::array<std::string_view, 3> calibration_names = {"none", "quick", "full"};

// Returns what the provenance records. Files that were not written by `huddle calibrate` and
// contain measured figures count as full.
Calibration calibration_of(const Machine& machine);

// Returns the name of it, for programs.
inline std::string_view calibration_text(const Machine& machine) {
  return calibration_names[static_cast<std::size_t>(calibration_of(machine))];
}

// Returns "3 steps unsteady (copy, 1 core alone, ...)"; empty if all measurements were steady.
std::string unsteadiness_text(const Machine& machine);

}  // namespace huddle::machine

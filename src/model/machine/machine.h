// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The machine model as data: the topology of a machine and figures that were measured, published or
// estimated. It is the contents of a machine file; cost.h predicts times from it.
//
// Times are in nanoseconds, sizes in bytes, rates in bytes per nanosecond (GB/s). A `level` is the
// name of the innermost topology level that two hardware threads share (their joining level), or
// "machine" if they share none.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/topology.h"

namespace huddle::machine {

// A measured relation between size and time, linear between its points.
struct Curve {
  std::vector<double> bytes;   // strictly ascending, positive
  std::vector<double> ns;      // positive, one per size
  std::vector<double> spread;  // relative half-width of the samples; empty if unknown

  bool operator==(const Curve&) const = default;
};

// Returns the time for a size. The curve is made monotone first, so that a larger size never takes
// less time. Below the first point, extrapolates the first segment to its fixed cost at 0 bytes,
// which is at least 0. Beyond the last point, continues at the rate of the last segment or at that
// of the last point alone, whichever is slower. Requires: the curve has at least one point.
double time_at(const Curve& curve, double bytes);

// Returns the rate in bytes per nanosecond (GB/s) at each point.
std::vector<double> rates(const Curve& curve);

// Where a value comes from, which determines how reliable it is.
enum class Origin { measured, published, estimated };
inline constexpr std::array<std::string_view, 3> origin_names = {"measured", "published",
                                                                 "estimated"};

// Tool, date and machine state of the measurements. Never contains names of hosts or users.
struct Provenance {
  std::string tool;                  // "huddle 0.1.0"; empty for files written by hand
  std::string date;                  // UTC, "2026-11-20T10:00:00Z"
  std::string kernel;                // "Linux 6.1.0"
  std::string governor;              // cpufreq's, or "none"
  std::string smt;                   // "on", "off", "absent"
  std::string numa_balancing;        // "on", "off", "absent"
  std::string hypervisor;            // "" on bare metal
  std::string method;                // how the figures were obtained, in a sentence
  std::vector<std::string> sources;  // papers and data sheets

  bool operator==(const Provenance&) const = default;
};

// The cost of transferring a cache line between two cores. Steps apply if several cores wait or
// write.
struct LineCost {
  std::string level;
  double one_way_ns = 0;      // half the round trip if each side writes its own cache line
  double shared_ns = 0;       // half the round trip if both sides write the same cache line
  double reader_step_ns = 0;  // per additional reader that waits for the same cache line
  double writer_step_ns = 0;  // per additional writer whose flag is in the same cache line
  double spread = 0;          // relative
  Origin origin = Origin::estimated;
  // Origin of the two steps, which differs because measuring them takes three cores.
  Origin steps_origin = Origin::estimated;
  // Per additional line that one core loads from others; reader_step_ns if not given.
  std::optional<double> load_step_ns = {};
  // Origin of shared_ns if it is not that of one_way_ns.
  std::optional<Origin> shared_origin = {};

  bool operator==(const LineCost&) const = default;
};

// One-way latencies between the measured hardware threads; symmetric.
struct LinePairs {
  std::vector<int> pus;            // ascending
  std::vector<double> one_way_ns;  // pus.size() squared, row by row; the diagonal is 0
  std::string sampling;            // "every pair", or how the other pairs were filled in

  bool operator==(const LinePairs&) const = default;
};

// Repeated copies of private data on one core, or on several at the same time.
struct CopyCurve {
  std::string level;  // the copiers share a group of this level ("core" for a single copier)
  int copiers = 1;    // number of concurrent copiers, including this one
  Curve curve;        // over the size of one copy; the working set is twice that
  Origin origin = Origin::estimated;

  bool operator==(const CopyCurve&) const = default;
};

// The measured ways of transferring a block from one core to another through shared memory.
enum class HandoffKind {
  write_cached,              // plain stores to lines that the peer has cached
  write_cached_nontemporal,  // the same with non-temporal stores
  read_dirty,                // loads from lines that the peer has just written
  ring,                      // both concurrently, block by block through a ring, plain stores
  ring_nontemporal,          // the same with non-temporal stores
  ring_rep_movsb,            // as ring, with REP MOVSB
  ring_prefetch_write,       // the same with lines prefetched for writing ahead of the stores
  write_ping_pong,           // plain stores to lines that the peer wrote and the writer has read
  write_reader_owned,        // plain stores to lines that the peer has read and then stored to
  read_and_own,              // loads from lines that the peer has just written, and stores to them
  ring_reader_owned,         // a ring with plain stores whose reader uses read_and_own
  write_interleaved,         // as write_cached, alternating between several pages
  read_interleaved,          // as read_dirty, alternating between several pages
  ring_interleaved,          // a ring that combines the two interleaved kinds
};
// The part of the transfer that is measured.
enum class HandoffPart {
  write,  // until the writer has stored the block
  read,   // from the end of the write until the reader has read the block
  ring,   // both concurrently, block by block
};
// Facts about each kind, in the order of the enumeration: its name in machine files, and the
// estimates that apply between cores that share a cache if there are no measurements.
struct HandoffFacts {
  std::string_view name;
  HandoffPart part;
  double bytes_per_ns;
  double start_ns;  // in addition to the latency of a cache line
  // The name in older machine files; empty if it is the same.
  std::string_view former_name = {};
};
inline constexpr double memory_near_ns = 100;
// Copy-in/copy-out is bound by stores to lines that a peer has cached; loading lines that a peer
// has written is cheap. Non-temporal stores are twice as fast on some processors and half as fast
// on others, and the reader must fetch the data from memory, so their estimates are never better
// than those of plain stores. The kinds in which the reader owns the lines have similar estimates,
// because not every processor transfers ownership with a line, and on some it makes no difference
// whether the reader has only read the line.
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
// Returns the kind with this name. In a constant expression an unknown name is a compile-time
// error.
// Requires: there is such a kind.
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

// The cost of accesses to a NUMA node's memory by a core that shares `level` with the node's own
// cores.
struct MemoryCost {
  std::string level;
  double load_ns = 0;      // one dependent load that misses all caches
  double copy_factor = 1;  // ratio of the time of a copy from there to that of a local copy
  Origin origin = Origin::estimated;

  bool operator==(const MemoryCost&) const = default;
};

// The cost of reads by a path through the kernel or a driver to a peer's memory.
struct PathCurve {
  std::string path;  // "cma"
  int copiers = 1;
  Curve curve;
  Origin origin = Origin::estimated;
  // The level that reader and peer share; empty if the pairs are spread over the machine.
  std::string level = {};

  bool operator==(const PathCurve&) const = default;
};

// Operations of the operating system.
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

// The location of an application's arrays: from its own malloc, or in the shared heap.
enum class ArrayPlace { program, heap };
inline constexpr std::array<std::string_view, 2> array_place_names = {"program", "heap"};

// The cost of accesses by one core to arrays far larger than its caches. It depends on how the
// pages of the arrays are allocated.
struct ArrayCost {
  ArrayPlace place = ArrayPlace::program;
  double load_ns = 0;    // per load of many independent loads at random places
  double stream_ns = 0;  // per cache line of a[i] = b[i] + 3 c[i]
  double spread = 0;     // relative, the larger of the two
  Origin origin = Origin::estimated;

  bool operator==(const ArrayCost&) const = default;
};

// The cost of a message between two nodes of one switch. Links beyond that switch are described by
// a fabric.
struct Network {
  std::string name;
  int rails = 1;             // NICs per node
  Curve curve;               // a single message, from the sender's call until it is received
  double gap_ns = 0;         // between two messages of one NIC
  double node_gb_per_s = 0;  // total of all NICs of a node
  Origin origin = Origin::estimated;
  double cpu_ns = 0;  // part of a message's time in which a core is busy, on each side
  // Messages of at least this size use the rendezvous protocol; nothing if none do.
  std::optional<double> rendezvous_bytes = {};
  // Ratio of the time of a simultaneous exchange of two messages to that of one message.
  std::optional<double> both_ways = {};
  // Size of the pieces into which messages should be split in a simultaneous exchange, because
  // otherwise the rendezvous handshake waits behind the data of the other direction. Nothing if
  // whole messages are as fast.
  std::optional<double> piece_bytes = {};

  bool operator==(const Network&) const = default;
};

// Collectives between nodes for which the time of the MPI's own implementation is measured.
inline constexpr std::array<std::string_view, 11> collective_names = {
    "barrier",  "bcast",  "reduce",  "allreduce",      "allgather",           "allgatherv",
    "alltoall", "gather", "scatter", "reduce_scatter", "reduce_scatter_block"};

// The time of an MPI's own collective over several nodes.
struct MpiCollective {
  std::string mpi;        // MPI_Get_library_version(): "Open MPI v4.1.4"
  std::string operation;  // one of collective_names
  int hosts = 2;
  int ranks = 2;         // on all hosts together
  bool in_order = true;  // the ranks of each host are consecutive
  Curve curve;  // over the bytes of one rank's data or, if blocks are moved, of a block; barrier: 1
  Origin origin = Origin::measured;

  bool operator==(const MpiCollective&) const = default;
};

// An unsteady measurement: what was measured, and what was observed.
struct Doubt {
  std::string what;
  std::string why;

  bool operator==(const Doubt&) const = default;
};

// The number of cache lines that a core can have requested from other cores at the same time.
// Further stores to lines that others have cached, and loads of lines that others have written,
// wait.
struct OutstandingMisses {
  int per_core = 0;
  Origin origin = Origin::estimated;

  bool operator==(const OutstandingMisses&) const = default;
};

struct Machine {
  std::string name;  // "xeon-e5-2620v4-2s"
  Topology topology;
  Provenance provenance;
  int line_bytes = 64;
  std::vector<LineCost> line;  // one per joining level
  std::optional<LinePairs> pairs;
  std::optional<OutstandingMisses> outstanding_misses;  // if missing, that of the CPU's family
  std::vector<CopyCurve> copy;
  // The copies with non-temporal stores; empty if not measured.
  std::vector<CopyCurve> copy_past_caches;
  std::vector<HandoffCurve> handoff;
  std::vector<MemoryCost> memory;
  std::vector<PathCurve> paths;
  std::vector<SystemCost> system;
  std::vector<ArrayCost> arrays;  // of both places; empty if not measured
  std::vector<Network> networks;
  std::vector<MpiCollective> mpi_collectives;
  std::vector<Doubt> doubts;

  bool operator==(const Machine&) const = default;
};

// Throws Flaw for the first invalid value: a negative time, a level that the topology does not
// have, a joining level without a latency, a matrix of the wrong size, sizes that do not ascend.
void validate(const Machine& machine);

// Returns the machine's number of outstanding misses, or the estimate for its CPU's family.
OutstandingMisses outstanding_misses(const Machine& machine);

// Returns whether any cache-line latency, copy or system call was measured.
bool calibrated(const Machine& machine);

// The extent of a calibration.
enum class Calibration { none, quick, full };
inline constexpr std::array<std::string_view, 3> calibration_names = {"none", "quick", "full"};

// Returns the kind of calibration that the provenance records. Files that were not written by
// `huddle calibrate` and contain measured figures count as full.
Calibration calibration_of(const Machine& machine);

// Returns the name of calibration_of() for machine-readable output.
inline std::string_view calibration_text(const Machine& machine) {
  return calibration_names[static_cast<std::size_t>(calibration_of(machine))];
}

// Returns "3 steps unsteady (copy, 1 core alone, ...)"; empty if all measurements were steady.
std::string unsteadiness_text(const Machine& machine);

}  // namespace huddle::machine

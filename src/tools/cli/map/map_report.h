// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle map` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/cost.h"
#include "model/machine/machine.h"
#include "placement/mapping/comm_matrix.h"
#include "placement/mapping/emit.h"
#include "placement/mapping/mapping.h"
#include "placement/mapping/method.h"
#include "tools/cli/console.h"

namespace huddle::cli {

inline constexpr int map_json_schema = 1;

// One way of placing everybody.
struct Placed {
  std::string method;
  mapping::Mapped mapped;
  mapping::Quality quality;
  double took_ms = 0;
  std::optional<double> memory_gb_per_s = {};  // that the elements can use in this placement
};

// Memory bandwidth in GB/s, by the copy curves of the machine file; nothing if it has none.
struct Bandwidth {
  std::optional<double> before;    // in the present placement
  std::optional<double> balanced;  // if sockets and NUMA nodes get equal numbers of elements
  std::optional<double> all;       // if every core of these nodes copies
};

// What all ways are about. Keeps references.
struct MapSubject {
  std::string path;  // of the matrix
  const mapping::CommMatrix& matrix;
  const mapping::Problem& problem;
  mapping::Quality before;
  std::string machine;                  // its name
  std::vector<std::string> notes;       // how far figures may be trusted, what was left out
  double least_gain = 0;                // of hop-bytes; below that nobody should move
  std::vector<std::string> hosts = {};  // by node; empty: they have no names
  Bandwidth bandwidth = {};
};

// Returns the share of hop-bytes that a placement saves; 0 if there were none.
double gain(const MapSubject& subject, const Placed& placed);
// Returns the part of that share which chance in sampled events does not explain.
double certain_gain(const MapSubject& subject, const Placed& placed);

// Returns whether the events behind the matrix justify looking for a placement at all.
mapping::Finding finding_of(const MapSubject& subject);

struct MapVerdict {
  bool moves = false;
  std::string text;  // "37.0 % of the hop-bytes saved", "leave it as it is: ..."
};
MapVerdict verdict_on(const MapSubject& subject, const Placed& placed);

// Returns why the events do not suffice; empty if they do.
std::string evidence_text(const MapSubject& subject);

// Returns a warning if the placement cannot use memory bandwidth that a balanced one could; empty
// otherwise.
std::string bandwidth_warning(const MapSubject& subject, const Placed& placed);

std::string percent_text(double share);
std::string bandwidth_text(double gb_per_s);

std::string map_text(const MapSubject& subject, const Placed& placed, const Console& console);
std::string map_json(const MapSubject& subject, const Placed& placed);
std::string map_compare_text(const MapSubject& subject, const std::vector<Placed>& all,
                             const Console& console);
std::string map_compare_json(const MapSubject& subject, const std::vector<Placed>& all);

// What `huddle map` is asked, made ready for the methods: which slots there are, who is fixed, who
// sits where now.
struct SlotQuestion {
  int elements = 0;
  int nodes = 0;  // 0: as many as it takes
  std::optional<machine::CpuSet> allowed = {};
  std::vector<mapping::Assignment> named = {};  // whose processors have to be among the slots
  // Uses all processors instead of sharing the elements out over nodes, sockets and NUMA nodes.
  bool packs = false;
  int least_on_a_node = 0;  // slots that every node has at least
};

// Throws UsageError where there are fewer processors than elements.
mapping::SlotTree slot_tree(const machine::CostModel& model, const SlotQuestion& question);

// Between two nodes: by the machine's network, or as such networks usually are.
double network_ns(const machine::CostModel& model);
inline constexpr double usual_network_ns = 1500;

struct Seats {
  std::vector<mapping::Assignment> fixed = {};
  std::vector<mapping::Assignment> present = {};  // empty: what the next one says
  std::vector<int> nodes = {};  // of each element; empty: by number, on processors by number
  std::uint64_t seed = 1;
};
// Throws UsageError where somebody is to sit where there is no slot, or two on one.
mapping::Problem problem_of(const mapping::Graph& graph, const mapping::SlotTree& tree,
                            const Seats& seats);

// The hosts of a profile, as they come; and by element which of them it ran on. Nothing where the
// matrix does not say it of everybody.
struct Hosts {
  std::vector<std::string> names;
  std::vector<int> of_element;
};
Hosts hosts_of(const mapping::CommMatrix& matrix);

// Returns what the elements can use where they are, shared out evenly, and on all cores.
Bandwidth bandwidth_of(const mapping::Problem& problem, const machine::CostModel& model,
                       const SlotQuestion& question);

// Places by a method and measures the processor time that it takes.
Placed place_by(const mapping::Problem& problem, const mapping::MethodOptions& options);
// Returns the present placement, for a matrix on which no method should be run.
Placed left_alone(const mapping::Problem& problem, const mapping::MethodOptions& options);

// `huddle map --compare` without a matrix: the methods on how parallel programs talk.

// A table of Markdown, row by row: hop-bytes with those of the order by number as 1, and times.
// Without a machine: only which rows there are.
void print_map_corpus(const machine::Machine* machine, const Console& console);

}  // namespace huddle::cli

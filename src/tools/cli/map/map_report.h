// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The task of `huddle map` in the form that the mapping methods take, and its reports. Elements are
// ranks or threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
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

// The placement that one method found.
struct MethodResult {
  std::string method;
  mapping::MappingResult mapped;
  mapping::Quality quality;
  double took_ms = 0;
  std::optional<double> memory_gb_per_s = {};  // usable by the elements in this placement
};

// Memory bandwidth in GB/s, by the copy curves of the machine file; none if it has no such curves.
struct Bandwidth {
  std::optional<double> before;    // in the present placement
  std::optional<double> balanced;  // if sockets and NUMA nodes get equal numbers of elements
  std::optional<double> all;       // if every core of these nodes copies
};

// The data that all placements have in common. Keeps references.
struct MapReport {
  std::string path;  // of the matrix
  const mapping::CommMatrix& matrix;
  const mapping::MappingProblem& problem;
  mapping::Quality before;
  std::string machine;                  // its name
  std::vector<std::string> notes;       // accuracy of the figures, and what was left out
  double least_gain = 0;                // of predicted time; a smaller gain does not justify a move
  std::vector<std::string> hosts = {};  // by node; empty: they have no names
  Bandwidth bandwidth = {};
};

// Returns the fraction of the predicted time that a placement saves; 0 if there was none.
double gain(const MapReport& subject, const MethodResult& placed);
// Returns the part of that share which chance in sampled events does not explain.
double certain_gain(const MapReport& subject, const MethodResult& placed);

// Returns whether the events behind the matrix justify looking for a placement at all.
mapping::Finding finding_of(const MapReport& subject);

// Returns whether the matrix justifies looking for a placement: the events suffice, or the memory
// traffic is known.
bool can_place(const MapReport& subject);

struct MapDecision {
  bool moves = false;
  // For example "37.0 % of the predicted time saved: ...", "keep the current placement: ..."
  std::string text;
};
MapDecision decision_for(const MapReport& subject, const MethodResult& placed);

// Returns why the events do not suffice; empty if they do.
std::string evidence_text(const MapReport& subject);

// Returns a warning if a balanced placement could use more memory bandwidth; empty otherwise.
std::string bandwidth_warning(const MapReport& subject, const MethodResult& placed);

std::string percent_text(double share);
std::string bandwidth_text(double gb_per_s);

std::string map_text(const MapReport& subject, const MethodResult& placed, const Console& console);
std::string map_json(const MapReport& subject, const MethodResult& placed);
std::string map_compare_text(const MapReport& subject, const std::vector<MethodResult>& all,
                             const Console& console);
std::string map_compare_json(const MapReport& subject, const std::vector<MethodResult>& all);

// Input of the slot tree: number of elements and nodes, and restrictions on hardware threads.
struct SlotOptions {
  int elements = 0;
  int nodes = 0;  // 0: the minimum
  std::optional<machine::CpuSet> allowed = {};
  std::vector<mapping::Assignment> named = {};  // their hardware threads must be among the slots
  // Uses all hardware threads instead of balancing nodes, sockets and NUMA nodes.
  bool packs = false;
  int least_on_a_node = 0;  // minimum number of slots per node
};

// Throws UsageError if there are fewer hardware threads than elements.
mapping::SlotTree slot_tree(const machine::CostModel& model, const SlotOptions& question);

// Returns the latency between two nodes: of the machine's network, or a typical value.
double network_ns(const machine::CostModel& model);
inline constexpr double usual_network_ns = 1500;

// Returns the tree of all allowed slots, for placements that weigh memory against communication.
mapping::SlotTree all_slots(const machine::CostModel& model, SlotOptions question, int nodes);

struct PlacementConstraints {
  std::vector<mapping::Assignment> fixed = {};
  std::vector<mapping::Assignment> present = {};  // empty: determined by `nodes`
  std::vector<int> nodes =
      {};  // of each element; empty: elements are placed in order of their numbers
  std::uint64_t seed = 1;
};
// Throws UsageError if an element is assigned to a missing slot, or two elements to the same slot.
mapping::MappingProblem problem_of(const mapping::Graph& graph, const mapping::SlotTree& tree,
                                   const PlacementConstraints& constraints);

// Returns the present placement on the slots of `tree`.
std::vector<mapping::Assignment> present_in(const mapping::Graph& graph,
                                            const mapping::SlotTree& tree,
                                            const PlacementConstraints& constraints);

// The hosts of a profile in order of appearance, and the host of each element. Empty unless the
// matrix contains the host of every element.
struct Hosts {
  std::vector<std::string> names;
  std::vector<int> of_element;
};
Hosts hosts_of(const mapping::CommMatrix& matrix);

// Returns the bandwidth in the present placement, evenly distributed, and on all cores.
Bandwidth bandwidth_of(const mapping::MappingProblem& problem, const machine::CostModel& model,
                       const SlotOptions& question);

// Runs a mapping method and measures its CPU time.
MethodResult place_by(const mapping::MappingProblem& problem,
                      const mapping::MethodOptions& options);
// Returns the present placement. `why` describes it, for example why no method was run.
MethodResult left_alone(const mapping::MappingProblem& problem,
                        const mapping::MethodOptions& options, const std::string& why);

// The quality of the placement that one method finds for a communication pattern.
struct CorpusResult {
  mapping::Method method;
  double hop_bytes = 0;  // relative to the placement by number
  double took_ms = 0;
};
// One row of the table that `huddle map --compare` prints without a matrix.
struct CorpusRow {
  std::string_view pattern;
  int elements = 0;
  bool shuffled = false;                   // the elements are numbered at random
  std::vector<CorpusResult> results = {};  // empty without a machine
};

// Passes the rows in the order of the table, each when its results are known. Without a machine no
// method is run.
void for_each_corpus_row(const machine::Machine* machine,
                         const std::function<void(const CorpusRow&)>& use);

// Prints the rows as a Markdown table, one by one, or as one JSON object.
void print_map_corpus(const machine::Machine* machine, const Console& console);
std::string map_corpus_json(const machine::Machine* machine);

}  // namespace huddle::cli

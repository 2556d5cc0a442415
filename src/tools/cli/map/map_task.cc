// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "common/arithmetic.h"
#include "common/error.h"
#include "common/text.h"
#include "placement/mapping/bandwidth.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/method.h"
#include "tools/cli/map/map_report.h"

namespace huddle::cli {
namespace {

// Returns the slots of the assigned elements; no_slot for all others.
mapping::Mapping mapping_of(const std::vector<mapping::Assignment>& assignments, int elements,
                            const mapping::SlotTree& tree) {
  mapping::Mapping mapping(at(elements), mapping::no_slot);
  std::vector<int> taken_by(at(tree.size()), -1);
  for (const mapping::Assignment& one : assignments) {
    const std::string where = slot_text(one.slot, tree.nodes());
    if (one.element >= elements) {
      throw UsageError(fmt::format("there is no element {}: elements are numbered from 0 to {}",
                                   one.element, elements - 1));
    }
    const int slot = tree.slot_of(one.slot);
    if (slot < 0) {
      throw UsageError(
          fmt::format("element {} cannot be placed on {}: this hardware thread does not exist, or "
                      "is not in --cpus",
                      one.element, where));
    }
    int& taken = taken_by[at(slot)];
    if (taken >= 0 && taken != one.element) {
      throw UsageError(
          fmt::format("elements {} and {} cannot both be placed on {}", taken, one.element, where));
    }
    if (mapping[at(one.element)] != mapping::no_slot && mapping[at(one.element)] != slot) {
      throw UsageError(fmt::format("element {} has two places", one.element));
    }
    taken = one.element;
    mapping[at(one.element)] = slot;
  }
  return mapping;
}

std::string name_of(const mapping::MethodOptions& options) {
  std::string name(mapping::method_names[static_cast<std::size_t>(options.method)]);
  return options.as_printed ? name + " --as-published" : name;
}

// Returns the CPU time of this thread, which is not affected by other programs.
double processor_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

double network_ns(const machine::CostModel& model) {
  const double ns = model.message_ns(model.machine().line_bytes, 0);
  return std::isfinite(ns) ? ns : usual_network_ns;
}

mapping::SlotTree slot_tree(const machine::CostModel& model, const SlotOptions& question) {
  const machine::Topology& topology = model.machine().topology;
  const machine::CpuSet allowed = common(question.allowed.value_or(topology.pus), topology.pus);
  if (allowed.empty()) {
    throw UsageError(fmt::format("--cpus contains no hardware thread of this machine ({})",
                                 topology.pus.text()));
  }
  std::vector<int> named;
  for (const mapping::Assignment& one : question.named) named.push_back(one.slot.pu);
  const machine::CpuSet wanted(std::move(named));
  const int cores = static_cast<int>(mapping::chosen_pus(topology, allowed, wanted, 1, 1).size());
  const int nodes = question.nodes > 0 ? question.nodes : (question.elements + cores - 1) / cores;
  std::vector<int> pus = mapping::chosen_pus(topology, allowed, wanted, question.elements, nodes);
  const long long slots = static_cast<long long>(pus.size()) * nodes;
  if (slots < question.elements) {
    throw UsageError(fmt::format(
        "{} do not fit on {}: use more nodes (--nodes {}) or more hardware threads (--cpus)",
        counted(question.elements, "element"), counted(slots, "hardware thread"),
        (question.elements + static_cast<int>(pus.size()) - 1) / static_cast<int>(pus.size())));
  }
  const int on_a_node = std::max((question.elements + nodes - 1) / nodes, question.least_on_a_node);
  pus = question.packs ? mapping::cores_first(topology, pus, wanted, on_a_node)
                       : mapping::balanced_pus(topology, pus, wanted, on_a_node);
  return {model, {std::move(pus), nodes, network_ns(model)}};
}

mapping::MappingProblem problem_of(const mapping::Graph& graph, const mapping::SlotTree& tree,
                                   const PlacementConstraints& constraints) {
  mapping::MappingProblem problem{
      graph, tree, mapping_of(constraints.fixed, graph.size(), tree), {}, constraints.seed};
  if (constraints.present.empty()) {
    const auto present =
        constraints.nodes.empty() ? std::nullopt : on_nodes(problem, constraints.nodes);
    problem.present = present ? *present : in_order(problem);
    return problem;
  }
  problem.present = mapping_of(constraints.present, graph.size(), tree);
  for (int v = 0; v < graph.size(); ++v) {
    const int now = problem.present[at(v)];
    if (now == mapping::no_slot) {
      throw UsageError(fmt::format("--current contains no place for element {}", v));
    }
    const int fixed = problem.fixed[at(v)];
    if (fixed != mapping::no_slot && fixed != now) {
      throw UsageError(fmt::format("--fixed places element {} on {}, --current on {}", v,
                                   slot_text(tree.slots()[at(fixed)], tree.nodes()),
                                   slot_text(tree.slots()[at(now)], tree.nodes())));
    }
  }
  return problem;
}

mapping::SlotTree all_slots(const machine::CostModel& model, SlotOptions question, int nodes) {
  question.packs = true;
  question.nodes = nodes;
  return slot_tree(model, question);
}

std::vector<mapping::Assignment> present_in(const mapping::Graph& graph,
                                            const mapping::SlotTree& tree,
                                            const PlacementConstraints& constraints) {
  const mapping::MappingProblem problem = problem_of(graph, tree, constraints);
  std::vector<mapping::Assignment> present;
  for (int v = 0; v < graph.size(); ++v) {
    present.push_back({v, tree.slots()[at(problem.present[at(v)])]});
  }
  return present;
}

Hosts hosts_of(const mapping::CommMatrix& matrix) {
  Hosts hosts;
  for (const std::string& host : matrix.hosts) {
    const auto found = std::find(hosts.names.begin(), hosts.names.end(), host);
    hosts.of_element.push_back(static_cast<int>(found - hosts.names.begin()));
    if (found == hosts.names.end()) hosts.names.push_back(host);
  }
  const bool is_known = std::find(hosts.names.begin(), hosts.names.end(), "") == hosts.names.end();
  return is_known ? hosts : Hosts{};
}

Bandwidth bandwidth_of(const mapping::MappingProblem& problem, const machine::CostModel& model,
                       const SlotOptions& question) {
  SlotOptions shared_out = question;
  shared_out.packs = false;
  shared_out.named.clear();
  shared_out.nodes = problem.tree.nodes();
  const mapping::SlotTree balanced = slot_tree(model, shared_out);
  const mapping::MappingProblem even{
      problem.graph, balanced, mapping::Mapping(at(problem.elements()), mapping::no_slot), {}, 1};
  const machine::Topology& topology = model.machine().topology;
  std::optional<double> all = mapping::memory_gb_per_s(model, first_pu_of_cores(topology));
  if (all) *all *= problem.tree.nodes();
  return {mapping::memory_gb_per_s(model, problem.tree, problem.present),
          mapping::memory_gb_per_s(model, balanced, in_order(even)), all};
}

MethodResult place_by(const mapping::MappingProblem& problem,
                      const mapping::MethodOptions& options) {
  const double start_ms = processor_ms();
  mapping::MappingResult mapped = map_by(problem, options);
  const double took_ms = processor_ms() - start_ms;
  mapping::Quality quality = quality_of(problem, mapped.mapping);
  return {name_of(options), std::move(mapped), std::move(quality), took_ms};
}

MethodResult left_alone(const mapping::MappingProblem& problem,
                        const mapping::MethodOptions& options, const std::string& why) {
  return {name_of(options), {problem.present, why}, quality_of(problem, problem.present)};
}

namespace {

using mapping::Method;

constexpr std::array sizes = {8, 64, 512, 4096};
constexpr std::array methods = {Method::compact, Method::scatter, Method::lh, Method::tree};
constexpr std::uint64_t shuffle_seed = 7;

std::vector<CorpusResult> results_for(const machine::CostModel& model,
                                      const mapping::Graph& graph) {
  // Methods differ only if they can choose between more slots than there are elements.
  const mapping::SlotTree tree = slot_tree(model, {.elements = graph.size(), .packs = true});
  const mapping::MappingProblem problem = problem_of(graph, tree, {});
  const double before = hop_bytes(problem, problem.present);
  std::vector<CorpusResult> results;
  for (const Method method : methods) {
    const MethodResult placed = place_by(problem, {method, false});
    results.push_back({method, placed.quality.hop_bytes / before, placed.took_ms});
  }
  return results;
}

std::string row_text(const CorpusRow& row) {
  std::string text = fmt::format("| {} | {} | {} |", row.pattern, row.elements,
                                 row.shuffled ? "shuffled" : "in order");
  std::string times;
  for (const CorpusResult& result : row.results) {
    text += fmt::format(" {:.3f} |", result.hop_bytes);
    if (result.method == Method::lh || result.method == Method::tree) {
      times += fmt::format(" {:.3g} |", result.took_ms);
    }
  }
  return text + times + "\n";
}

}  // namespace

void for_each_corpus_row(const machine::Machine* machine,
                         const std::function<void(const CorpusRow&)>& use) {
  for (const int size : sizes) {
    for (std::size_t p = 0; p < mapping::pattern_names.size(); ++p) {
      for (const bool shuffle : {false, true}) {
        CorpusRow row{mapping::pattern_names[p], size, shuffle};
        if (machine != nullptr) {
          mapping::Graph graph = mapping::graph_of(static_cast<mapping::Pattern>(p), size, 1);
          if (shuffle) graph = mapping::shuffled(graph, shuffle_seed);
          row.results = results_for(machine::CostModel(*machine), graph);
        }
        use(row);
      }
    }
  }
}

void print_map_corpus(const machine::Machine* machine, const Console& console) {
  console.print(
      "| pattern | elements | numbered | compact | scatter | lh | tree | lh ms | tree ms |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for_each_corpus_row(machine, [&](const CorpusRow& row) { console.print(row_text(row)); });
}

}  // namespace huddle::cli

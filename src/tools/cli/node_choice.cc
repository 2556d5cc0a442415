// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/node_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cstring>
#include <set>
#include <vector>

#include "common/error.h"
#include "common/text.h"
#include "runtime/select/choice.h"
#include "runtime/select/operation.h"
#include "runtime/single_copy/peer_memory.h"
#include "tools/cli/selected_machine.h"
#include "tools/doctor/siblings.h"

namespace huddle::cli {
namespace {

using machine::CpuSet;
using machine::Topology;

constexpr std::string_view unbound = "none";
constexpr std::string_view thread = "hwthread";

// Returns the name of the level in the topology.
std::string level_of(const std::string& word) {
  if (word == "socket") return "package";
  constexpr std::string_view cache = "cache";
  return word.ends_with(cache) ? word.substr(0, word.size() - cache.size()) : word;
}

std::vector<CpuSet> cores_of(const Topology& topology) {
  std::vector<CpuSet> cores;
  for (const int first : machine::first_pu_of_cores(topology)) {
    CpuSet core({first});
    if (const machine::Level* const level = find_level(topology, "core")) {
      for (const CpuSet& group : level->groups) {
        if (group.contains(first)) core = group;
      }
    }
    cores.push_back(core);
  }
  return cores;
}

std::vector<CpuSet> threads_of(const Topology& topology) {
  std::vector<CpuSet> threads;
  for (const CpuSet& core : cores_of(topology)) {
    for (const int pu : core) threads.push_back(CpuSet({pu}));
  }
  return threads;
}

std::vector<CpuSet> nodes_of(const Topology& topology) {
  std::vector<CpuSet> nodes;
  for (const machine::NumaNode& node : topology.numa) {
    if (!node.memory_only) nodes.push_back(node.cpus);
  }
  return nodes;
}

// Returns none if the machine has no such level.
std::vector<CpuSet> groups_of(const std::string& level, const Topology& topology) {
  if (level == unbound) return {topology.pus};
  if (level == thread) return threads_of(topology);
  if (level == "core") return cores_of(topology);
  if (level == "numa") return nodes_of(topology);
  const machine::Level* const found = find_level(topology, level);
  return found == nullptr ? std::vector<CpuSet>() : found->groups;
}

}  // namespace

std::vector<std::string> binding_words() {
  return {std::string(thread), "core", "l2", "l3", "numa", "socket", std::string(unbound)};
}

std::vector<CpuSet> binding_groups(const std::string& word, const Topology& topology,
                                   const CpuSet& usable) {
  std::vector<CpuSet> groups;
  for (const CpuSet& group : groups_of(level_of(word), topology)) {
    CpuSet part = common(group, usable);
    if (!part.empty()) groups.push_back(std::move(part));
  }
  if (!groups.empty()) return groups;
  const std::vector<std::string> known = binding_words();
  const std::string guess = did_you_mean(word, known);
  throw UsageError(
      fmt::format("--bind: this machine has no '{}'{}", printable(word),
                  guess.empty() ? fmt::format("; use one of {}", fmt::join(known, ", ")) : guess));
}

std::vector<int> bound_processors(int ranks, const std::vector<CpuSet>& groups) {
  std::vector<int> processors;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    const std::vector<int>& choice = groups[rank % groups.size()].cpus();
    processors.push_back(choice[rank / groups.size() % choice.size()]);
  }
  return processors;
}

namespace {

std::string_view verb(std::string_view command) { return command == "sim" ? "simulate" : command; }

select::Operation operation_named(std::string_view command, const std::string& word) {
  if (word.empty()) {
    throw UsageError(fmt::format("{} what? Name one of: {}", verb(command),
                                 fmt::join(select::operation_names, ", ")));
  }
  if (const auto operation = select::operation_named(word)) return *operation;
  const std::vector<std::string> names(select::operation_names.begin(),
                                       select::operation_names.end());
  const std::string guess = did_you_mean(collective_word(word), names);
  throw UsageError(
      fmt::format("unknown collective '{}'{}", word,
                  guess.empty() ? fmt::format("; use one of {}", fmt::join(names, ", ")) : guess));
}

// Reductions have elements of type double, as in the benchmarks.
std::size_t element_bytes_of(select::Operation operation) {
  return select::reduces(operation) ? sizeof(double) : 1;
}

// Returns the size of the smallest input that other ranks have to access.
std::size_t shown_bytes(const select::Request& request, int ranks) {
  return static_cast<std::size_t>(select::own_data(request, /*is_root=*/true, ranks).in_bytes);
}

// Marks the paths by which ranks of this machine cannot read each other's memory as refused.
void refuse_what_fails_here(select::TeamResources& resources) {
  const single_copy::PeerPaths paths = single_copy::peer_paths();
  try {
    const auto results = doctor::probe_siblings({.allow_tracers = true, .paths = paths});
    for (std::size_t path = 0; path < paths.size(); ++path) {
      const int error = results.memory_read(path);
      if (error == 0) continue;
      resources.paths[path].refusal =
          fmt::format("{} is refused: {}", paths[path].call, std::strerror(error));
    }
  } catch (const FailureError& error) {
    resources.refuse_paths(error.what());
  }
}

}  // namespace

std::size_t size_given(bool is_barrier, const std::string& word, const std::string& ask) {
  if (is_barrier) {
    if (word.empty()) return 0;
    throw UsageError("a barrier moves no data: remove SIZE");
  }
  if (word.empty()) throw UsageError(ask);
  const auto bytes = size_from(word);
  if (!bytes) {
    throw UsageError(fmt::format("'{}' is not a size; write 64, 8K or 1.5M", word));
  }
  return *bytes;
}

bool share_a_processor(const std::vector<int>& pus) {
  return std::set<int>(pus.begin(), pus.end()).size() < pus.size();
}

void check_simulated(const std::vector<int>& pus) {
  if (!share_a_processor(pus)) return;
  throw UsageError("ranks that share a core cannot be simulated: remove --simulate");
}

select::Request node_request(std::string_view command, const std::string& operation_word,
                             const std::string& size_word) {
  const select::Operation operation = operation_named(command, operation_word);
  const std::size_t bytes =
      size_given(operation == select::Operation::barrier, size_word,
                 fmt::format("the size of {0} is missing, for example: huddle {1} {0} 64K",
                             operation_word, command));
  return {operation, bytes, element_bytes_of(operation)};
}

NodeTeam node_team(const Context& context, const node::RankLocality& locality,
                   const machine::CostModel& model, bool is_here) {
  NodeTeam team{select::team_resources(locality, model, select::usual_queue_bytes),
                wants_heap(context, model.machine())};
  team.resources.forcing = select::Forcing(settings::find(context.settings, "algo").value);
  if (team.has_heap) team.resources.heap_refusal.clear();
  if (is_here) refuse_what_fails_here(team.resources);
  team.least_heap_block =
      size_from(settings::find(context.settings, "heap-threshold").value).value_or(0);
  return team;
}

select::Explanation explanation_of(const select::Request& original,
                                   const node::RankLocality& locality,
                                   const machine::CostModel& model, const NodeTeam& team) {
  const select::TeamResources& resources = team.resources;
  const bool is_in_heap = resources.heap_refusal.empty() && locality.ranks() > 1 &&
                          shown_bytes(original, locality.ranks()) >= team.least_heap_block;
  if (!is_in_heap) return select::explain(original, locality, model, resources);
  select::Request of_class = original;
  of_class.bytes = select::largest_in(select::size_class_of(original.bytes));
  const auto choice = select::choose(of_class, locality, model, resources);
  select::Request request = original;
  request.mapped = choice && choice->where_mapped;
  select::Explanation explanation = select::explain(request, locality, model, resources);
  if (!request.mapped) return explanation;
  const double vote_ns = select::vote_ns(locality, model);
  for (select::Candidate& candidate : explanation.candidates) candidate.ns += vote_ns;
  return explanation;
}

NodeChoice node_choice(const Context& context, const select::Request& request,
                       const node::RankLocality& locality, const machine::CostModel& model,
                       bool is_here) {
  NodeTeam team = node_team(context, locality, model, is_here);
  select::Explanation explanation = explanation_of(request, locality, model, team);
  return {std::move(explanation), std::move(team.resources), team.has_heap};
}

}  // namespace huddle::cli

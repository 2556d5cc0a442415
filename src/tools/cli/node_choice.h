// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A collective within a node as given on a command line, its binding, and a team's choice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine/cost.h"
#include "model/machine/topology.h"
#include "runtime/node/locality.h"
#include "runtime/select/explain.h"
#include "runtime/select/team_resources.h"
#include "tools/cli/command.h"

namespace huddle::cli {

// Returns the words for --bind, which are those of mpirun's --bind-to.
std::vector<std::string> binding_words();

// Returns the hardware threads that each rank may use, in rank order and cyclically: the cores,
// sockets or other groups of the machine, restricted to `usable`. Throws UsageError for an unknown
// word and for a group that the machine does not have.
std::vector<machine::CpuSet> binding_groups(const std::string& word,
                                            const machine::Topology& topology,
                                            const machine::CpuSet& usable);

// Returns the hardware thread at which a team places each rank. Ranks with the same group are
// distributed over it.
// Requires: there is a group, and none is empty.
std::vector<int> bound_processors(int ranks, const std::vector<machine::CpuSet>& groups);

// Returns the bytes of SIZE; 0 for a barrier. Throws UsageError with `ask` if it is missing.
std::size_t size_given(bool is_barrier, const std::string& word, const std::string& ask);

// Parses an operation and a size. Reductions have elements of type double. Throws UsageError with
// the command's name.
select::Request node_request(std::string_view command, const std::string& operation_word,
                             const std::string& size_word);

struct NodeChoice {
  select::Explanation explanation;
  select::TeamResources resources;
  bool has_heap = false;
};

// Returns what a team of these ranks would do with the settings of this command line. `is_here`:
// the model describes this machine, so the system's permissions for ranks are known.
NodeChoice node_choice(const Context& context, const select::Request& request,
                       const node::RankLocality& locality, const machine::CostModel& model,
                       bool is_here);

// The resources of a team of ranks, for several choices.
struct NodeTeam {
  select::TeamResources resources;
  bool has_heap = false;
  std::size_t least_heap_block = 0;  // buffers of at least this size are in the heap
};

NodeTeam node_team(const Context& context, const node::RankLocality& locality,
                   const machine::CostModel& model, bool is_here);
// Explains the choice of this team.
select::Explanation explanation_of(const select::Request& request,
                                   const node::RankLocality& locality,
                                   const machine::CostModel& model, const NodeTeam& team);

// Returns whether ranks share a hardware thread, which the simulation does not support.
bool share_a_processor(const std::vector<int>& pus);
// Throws UsageError in that case. For commands that have --simulate.
void check_simulated(const std::vector<int>& pus);

}  // namespace huddle::cli

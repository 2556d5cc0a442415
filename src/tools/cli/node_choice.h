// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A collective inside a node as it is asked about on a command line, and what a team would choose.
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

// Where a launcher puts ranks that it binds: what mpirun's --bind-to means to huddle, which counts
// a rank for a processor.

// In the words of MPI launchers; what a machine does not have is an error there.
std::vector<std::string> binding_words();

// The processors that a rank may use, rank after rank in turn: the cores, the packages, ... of the
// machine (of these processors of it). Throws UsageError for another word, and for what the machine
// does not have.
std::vector<machine::CpuSet> binding_groups(const std::string& word,
                                            const machine::Topology& topology,
                                            const machine::CpuSet& usable);

// The processor that each rank is counted for, as a team counts: ranks with the same choice are
// dealt over it. pre: there is a group, and none is empty.
std::vector<int> bound_processors(int ranks, const std::vector<machine::CpuSet>& groups);

// The bytes of SIZE; a barrier has none. Throws UsageError: `ask` where it is missing.
std::size_t size_given(bool is_barrier, const std::string& word, const std::string& ask);

// Throws UsageError in the words of that command. Elements of reductions are doubles.
select::Request node_request(std::string_view command, const std::string& operation_word,
                             const std::string& size_word);

struct NodeChoice {
  select::Explanation explanation;
  select::TeamResources resources;
  bool has_heap = false;
};

// What a team of such ranks would do, with the settings of this command line. is_here: the
// model is of this machine, so it is known what the system lets ranks do.
NodeChoice node_choice(const Context& context, const select::Request& request,
                       const node::RankLocality& locality, const machine::CostModel& model,
                       bool is_here);

// Whether two of these ranks sit on one processor: then they are not simulated.
bool share_a_processor(const std::vector<int>& pus);
// Throws UsageError if so. For commands that have --simulate.
void check_simulated(const std::vector<int>& pus);

}  // namespace huddle::cli

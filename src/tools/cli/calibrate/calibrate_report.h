// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/network/measure_network.h"
#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/conditions.h"
#include "tools/calibrate/plan.h"
#include "tools/cli/command.h"

namespace huddle::cli {

// What `huddle calibrate` says to a person: the plan, and what came out.
std::string plan_text(const machine::Topology& topology, const calibrate::Plan& plan, int columns);
std::string summary_text(const calibrate::Outcome& outcome, int columns);
// Of `measured` processors these are in use. pre: some are.
std::string other_work_text(const std::vector<calibrate::OtherWork>& work, std::size_t measured);

// What `huddle calibrate --json` prints: docs/design/machine-model.md describes it.
inline constexpr int calibrate_json_schema = 1;

std::string plan_json(const calibrate::Plan& plan);
// `file` is where the machine was written.
std::string outcome_json(const calibrate::Outcome& outcome, const std::string& file);
// words: of the command that measures.
std::string network_plan_json(const std::vector<std::string>& steps,
                              const std::vector<std::string>& words, bool quick);
// The machine with what was measured between nodes.
std::string network_json(const machine::Machine& machine, const std::string& file);

// `huddle calibrate --network`: what lies between nodes, measured by ranks that a launcher starts
// on them, and kept in the machine file.
struct NetworkOptions {
  std::vector<std::string> launcher;  // its words, without a program
  std::string mpi_library;
  bool quick = false;
  bool dry_run = false;
  bool json = false;
};

// The command that measures. Throws UsageError where there is no such launcher.
bench::Spawned network_command(const NetworkOptions& options);
ExitCode show_network_plan(const Context& context, const NetworkOptions& options);
bench::network::Measured measure_network(const Context& context, const NetworkOptions& options);

// In place of what was measured there of the same ranks under the same MPI, and of its network.
void keep_network(machine::Machine& machine, const bench::network::Measured& measured);

std::string network_text(const bench::network::Measured& measured, int columns);

}  // namespace huddle::cli

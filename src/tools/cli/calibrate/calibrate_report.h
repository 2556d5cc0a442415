// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Output of `huddle calibrate` as text and JSON, and the measurement between nodes.
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

std::string plan_text(const machine::Topology& topology, const calibrate::Plan& plan, int columns);
std::string summary_text(const calibrate::Outcome& outcome, int columns);
// Reports the hardware threads in use out of `measured` ones.
// Requires: `work` is not empty.
std::string other_work_text(const std::vector<calibrate::OtherWork>& work, std::size_t measured);

// Output of `huddle calibrate --json`, as described in docs/design/machine-model.md.
inline constexpr int calibrate_json_schema = 1;

std::string plan_json(const calibrate::Plan& plan);
// `file`: where the machine was written.
std::string outcome_json(const calibrate::Outcome& outcome, const std::string& file);
// `words`: the command that measures.
std::string network_plan_json(const std::vector<std::string>& steps,
                              const std::vector<std::string>& words, bool quick);
// Returns the machine as JSON, including what was measured between nodes.
std::string network_json(const machine::Machine& machine, const std::string& file);

// `huddle calibrate --network`: measures the network between nodes with ranks that a launcher
// starts on them, and keeps the results in the machine file.
struct NetworkOptions {
  std::vector<std::string> launcher;  // its words, without a program
  std::string mpi_library;
  bool quick = false;
  bool dry_run = false;
  bool json = false;
};

// Returns the command that measures. Throws UsageError if there is no such launcher.
bench::Spawned network_command(const NetworkOptions& options);
ExitCode show_network_plan(const Context& context, const NetworkOptions& options);
bench::network::Measured measure_network(const Context& context, const NetworkOptions& options);

// Stores the results in `machine`. They replace earlier results of the same ranks under the same
// MPI, and of its network.
void keep_network(machine::Machine& machine, const bench::network::Measured& measured);

// `huddle calibrate --from-latencies`: makes a machine file from published latencies.
struct PublishedOptions {
  std::string file;  // of the latencies; empty: measure this machine instead
  std::string like;
  std::string cpu_model;
  std::string line;  // "shared" or "separate"
  int sockets = 0;
  bool only_levels = false;

  void declare(Options& options);
};

// Returns the machine file's text. Prints what was assumed. `output`: the file that will contain
// it, which gives the machine its name; empty or "-" for standard output.
// Requires: options.file is not empty.
std::string published_machine_text(const Context& context, const PublishedOptions& options,
                                   const std::string& output);

std::string network_text(const bench::network::Measured& measured, int columns);

}  // namespace huddle::cli

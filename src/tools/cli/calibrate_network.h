// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle calibrate --network`: what lies between nodes, measured by ranks that a launcher starts
// on them, and kept in the machine file.
#pragma once

#include <string>
#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/network/measure_network.h"
#include "tools/cli/command.h"

namespace huddle::cli {

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

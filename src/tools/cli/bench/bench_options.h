// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Options and entry points of `huddle bench` and `huddle bench engine`.
#pragma once

#include <string>

#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "tools/cli/command.h"
#include "tools/cli/progress.h"

namespace huddle::cli {

// Value of --json without a file.
inline constexpr const char* json_on_stdout = "-";

inline constexpr int most_bench_ranks = 1024;

// Options for comparing an MPI with huddle.
struct MpiBenchOptions {
  bool quick = false;
  std::string json;  // a file, or json_on_stdout; empty: not given
  int ranks = 0;     // 0: not given
  std::string ops;
  std::string sizes;
  std::string mpi;
  std::string mpi_library;
  std::string peers;
  std::string under;
  int seconds = 0;  // 0: not given
  std::string loop;
  std::string cold;  // a number; empty: not given
  bool guidelines = false;
  bool dry_run = false;
  int tolerance = 5;  // of a guideline, in percent
};

// Options for comparing the engine with hand-written code.
struct EngineBenchOptions {
  bool quick = false;
  std::string json;  // as above
  int ranks = 0;
  bool as_is = false;
  bool variants = false;
  bool table = false;
  bool markdown = false;
  bool dry_run = false;
  bool simulate = false;
  int rounds = 0;  // 0: not given
};

ExitCode bench_mpi(const Context& context, const MpiBenchOptions& options);
ExitCode bench_guidelines(const Context& context, const MpiBenchOptions& options);
ExitCode bench_engine(const Context& context, const EngineBenchOptions& options);
ExitCode bench_table(const Context& context, const EngineBenchOptions& options);

// Writes to the file that --json names, or to stdout.
void put_json(const Console& console, const std::string& text, const std::string& where);

// Returns the machine model that huddle uses while its engine is timed: the named one, or with
// --no-calibrate the one that is found. Otherwise measures this machine quickly; an interrupt then
// ends the program. Throws UsageError if the file describes another machine.
machine::LoadedMachine engine_machine(const Context& context, const EngineBenchOptions& options,
                                      const machine::Discovery& discovery,
                                      const Interrupt& interrupt);

// Returns the requested number of rounds.
int engine_rounds(const EngineBenchOptions& options);

}  // namespace huddle::cli

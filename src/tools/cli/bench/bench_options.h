// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle bench` and `huddle bench engine` were asked for, and the things that they can do.
#pragma once

#include <string>

#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "tools/cli/command.h"
#include "tools/cli/progress.h"

namespace huddle::cli {

// Where --json has no file.
inline constexpr const char* json_on_stdout = "-";

inline constexpr int most_bench_ranks = 1024;

// An MPI against huddle.
struct MpiBenchOptions {
  bool quick = false;
  std::string json;  // a file, or json_on_stdout; empty: not asked for
  int ranks = 0;     // 0: not given
  std::string ops;
  std::string sizes;
  std::string mpi;
  std::string mpi_library;
  std::string peers;
  std::string under;
  int seconds = 0;  // 0: not given
  std::string loop;
  std::string cold;  // a number; empty: not asked for
};

// The collectives inside a node against bare code.
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
ExitCode bench_engine(const Context& context, const EngineBenchOptions& options);
ExitCode bench_table(const Context& context, const EngineBenchOptions& options);

// To the file that --json names, or to stdout.
void put_json(const Console& console, const std::string& text, const std::string& where);

// The machine model that huddle chooses by while its engine is timed.

// What was named, or with --as-is what is found; otherwise this machine is measured quickly, which
// an interrupt ends together with the program. Throws UsageError where a file is of another
// machine.
machine::LoadedMachine engine_machine(const Context& context, const EngineBenchOptions& options,
                                      const machine::Discovery& discovery,
                                      const Interrupt& interrupt);

// The rounds that were asked for.
int engine_rounds(const EngineBenchOptions& options);

}  // namespace huddle::cli

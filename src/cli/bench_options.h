// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle bench` was asked for, and the things that it can do.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace huddle::cli {

// Where --json has no file.
inline constexpr const char* json_on_stdout = "-";

struct BenchOptions {
  bool quick = false;
  std::string json;  // a file, or json_on_stdout; empty: not asked for
  int ranks = 0;     // 0: not given
  // --engine
  bool engine = false;
  bool as_is = false;
  bool variants = false;
  bool table = false;
  bool markdown = false;
  bool dry_run = false;
  int rounds = 0;  // 0: not given
  // with an MPI
  std::string ops;
  std::string sizes;
  std::string mpi;
  std::string mpi_library;
  std::string peers;
  std::string under;
  int seconds = 0;  // 0: not given
  // in place of a run: two files of such
  std::vector<std::string> compare;
};

ExitCode bench_engine(const Context& context, const BenchOptions& options);
ExitCode bench_table(const Context& context, const BenchOptions& options);
ExitCode bench_mpi(const Context& context, const BenchOptions& options);

// To the file that --json names, or to stdout.
void put_json(const Console& console, const std::string& text, const std::string& where);

}  // namespace huddle::cli

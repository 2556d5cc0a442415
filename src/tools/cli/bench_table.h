// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Everything that `huddle bench engine --table` found out, and what it prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/engine/algorithm_table.h"
#include "tools/bench/engine/binding.h"
#include "tools/cli/prediction_error.h"

namespace huddle::cli {

struct BenchTableReport {
  machine::Machine machine;
  std::string machine_file;  // as in a EngineBenchReport
  bench::Binding binding;
  bool dry_run = false;  // predictions alone
  bool simulated = false;
  bool quick = false;
  int rounds = 0;  // asked for
  bool interrupted = false;
  std::vector<std::string> notes;
  std::vector<bench::OperationTable> tables;

  // Of all cells that were measured.
  PredictionError prediction_error() const;
  // The same of what was simulated.
  PredictionError simulation_error() const;
  // At how many sizes, of those measured, what huddle chooses is no more than a tenth slower than
  // the fastest.
  struct Choices {
    std::size_t points = 0;
    std::size_t near_best = 0;
  };
  Choices choices() const;
};

std::string bench_table_text(const BenchTableReport& report, int columns);
std::string bench_table_markdown(const BenchTableReport& report);
// docs/guide.md describes it.
std::string bench_table_json(const BenchTableReport& report);

// ---- what text and Markdown have in common

// The machine, the ranks, and what the figures are.
std::string bench_table_ground(const BenchTableReport& report, std::string_view mark_of_choice);
// "0.143/0.151": predicted, where it was simulated, and where it was measured; marked where the
// first and the last are far apart.
std::string figures_text(const bench::Cell& cell);
// "nothing" where there is nothing.
std::string needs_text(const bench::AlgorithmRow& row);
// "alltoall (alltoallv, alltoallw: pairwise)".
std::string operation_text(const bench::OperationTable& table);

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"
#include "tools/bench/engine/algorithm_table.h"
#include "tools/bench/engine/comparison.h"
#include "tools/bench/engine/rank_processes.h"
#include "tools/bench/harness/ratio.h"
#include "tools/bench/mpi/measure_points.h"
#include "tools/bench/mpi/order.h"

namespace huddle::cli {

// How far the machine model's predictions are from what was measured: said wherever both are there.

// Behind the figures of a prediction that is off by more than `mispredicted_from`.
inline constexpr std::string_view misprediction_mark = "?";
inline constexpr double mispredicted_from = 2;

// How many times the greater of a predicted and a measured time is the lesser: 1 where they agree.
// pre: both are above 0.
double times_off(double predicted_ns, double measured_ns);
bool is_mispredicted(double predicted_ns, double measured_ns);

struct PredictionError {
  std::size_t points = 0;        // of which there are both times; 0: nothing is known
  double median_times_off = 0;   // half of the points are off by less
  std::size_t mispredicted = 0;  // points that are marked
};

// Of the times_off of each point, without those whose price the machine file cannot tell.
PredictionError prediction_error(std::vector<double> times_off);

// "the model's predictions are off by a factor of 1.24 in the median of 34 points; 2 points marked
// ?: by more than 2"; empty where nothing is known.
std::string prediction_error_text(const PredictionError& error);

// What `huddle bench engine` found out, and how it is said.

// In place of a file: measured quickly, at the beginning of the run.
inline constexpr const char* measured_now = "measured at the beginning of this run";

struct EngineBenchReport {
  machine::Machine machine;
  std::string machine_file;  // empty: generic constants; or measured_now
  bool quick = false;
  int rounds = 0;  // asked for
  bool interrupted = false;
  std::vector<std::string> notes;
  std::vector<bench::Result> results;

  bool all_hold() const {
    for (const auto& result : results) {
      for (const auto& verdict : result.verdicts) {
        if (!verdict.holds) return false;
      }
    }
    return true;
  }
  // Of whatever was predicted.
  PredictionError prediction_error() const;
};

inline constexpr int bench_json_schema = 1;

std::string bench_json(const EngineBenchReport& report);

// Which machine the figures are of, and how well it is known. machine_file: as in a report.
std::string machine_text(const machine::Machine& machine, const std::string& machine_file);

std::string bench_text(const EngineBenchReport& report, int columns);

// What `huddle bench` with an MPI found out, and how it is said.
struct MpiBenchReport {
  bench::MpiReport measured;
  machine::Machine machine;
  std::string machine_file;      // empty: generic figures
  std::vector<double> floor_ns;  // of each result, what it cannot be faster than; none: not known
  int ranks = 2;
  bool in_heap = false;  // where the buffers lie
  bool quick = false;
  bench::Timing timing = bench::Timing::apart;
  int cold_calls = 1;
  bench::Effort effort;
  std::string ops;
  std::string sizes;
  int seconds = 0;  // for all points together; 0: that was not asked for
  // What has to be said again to measure the same; empty: not given.
  std::string mpi;  // the launcher, where there is one MPI
  std::string mpi_library;
  std::string peers;

  bool has_peers() const { return measured.mpis.size() > 1; }
  // A point below the bar, in each of its tries.
  bool misses_bar() const;
  PredictionError prediction_error() const;
};

// How far the prediction for a point is off; nothing where there was none, or where huddle left
// calls to the MPI.
std::optional<double> times_off(const bench::PointResult& one);

std::string bench_mpi_text(const MpiBenchReport& report, int columns);

inline constexpr int bench_mpi_json_schema = 1;

std::string bench_mpi_json(const MpiBenchReport& report);

// Everything that `huddle bench engine --table` found out, and what it prints.
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

// Two results of `huddle bench` with an MPI side by side: what has become faster, what slower.

// What a file that `huddle bench --json FILE` wrote says of one point.
struct MeasuredPoint {
  std::string operation;
  std::size_t bytes = 0;
  std::string rival;
  double huddle_ns = 0;
  bench::Estimate estimate;  // of the ratio to the rival
};

struct MeasuredRun {
  std::string path;
  std::string machine;
  std::string huddle;  // its version
  std::string under;
  int ranks = 0;
  std::string timing = std::string(name(bench::Timing::apart));  // early files do not say it
  std::vector<std::string> mpis;
  std::vector<MeasuredPoint> points;
};

// Throws InputError with a sentence that says what is wrong with the file.
MeasuredRun read_measured_run(const std::string& path);

// The same point in both runs.
struct Change {
  MeasuredPoint before;
  MeasuredPoint after;

  // How many times faster huddle has become: by its ratios to what was measured in the same
  // minutes, since the machine may be another today. The interval holds that whatever the two of
  // theirs hold.
  bench::Estimate estimate() const;
  bool is_slower_than_bar() const;  // for certain
};

// In the order of the first run.
std::vector<Change> changes(const MeasuredRun& before, const MeasuredRun& after);

// With what has changed between the two.
std::string bench_compare_text(const MeasuredRun& before, const MeasuredRun& after,
                               const std::vector<Change>& all, int columns);

}  // namespace huddle::cli

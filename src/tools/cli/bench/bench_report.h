// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reports of `huddle bench` and its subcommands as text and JSON, and the prediction error of the
// machine model that they all include.
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

// Follows a prediction that is off by more than `mispredicted_from`.
inline constexpr std::string_view misprediction_mark = "?";
inline constexpr double mispredicted_from = 2;

// Returns the ratio of the larger to the smaller of a predicted and a measured time; 1 if they
// agree.
// Requires: both are above 0.
double times_off(double predicted_ns, double measured_ns);
bool is_mispredicted(double predicted_ns, double measured_ns);

struct PredictionError {
  std::size_t points = 0;        // with both times; 0: unknown
  double median_times_off = 0;   // half of the points are off by less
  std::size_t mispredicted = 0;  // number of marked points
};

// Summarizes the times_off of each point. Ignores points without a prediction.
PredictionError prediction_error(std::vector<double> times_off);

// Returns for example "the model's predictions are off by a factor of 1.24 in the median of 34
// points; 2 points marked ?: by more than 2"; empty if nothing is known.
std::string prediction_error_text(const PredictionError& error);

// Takes the place of a file name if the machine was measured at the beginning of the run.
inline constexpr const char* measured_now = "measured at the start of this run";

// The results of `huddle bench engine`.
struct EngineBenchReport {
  machine::Machine machine;
  std::string machine_file;  // empty: generic constants; or measured_now
  bool quick = false;
  int rounds = 0;  // as requested
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
  // Returns the error over all entries with a prediction.
  PredictionError prediction_error() const;
};

inline constexpr int bench_json_schema = 1;

std::string bench_json(const EngineBenchReport& report);

// Names the machine and the source of its model. `machine_file`: as in EngineBenchReport.
std::string machine_text(const machine::Machine& machine, const std::string& machine_file);

std::string bench_text(const EngineBenchReport& report, int columns);

// The results of `huddle bench` with an MPI.
struct MpiBenchReport {
  bench::MpiReport measured;
  machine::Machine machine;
  std::string machine_file;      // empty: generic constants
  std::vector<double> floor_ns;  // lower bound of each result; empty: unknown
  int ranks = 2;
  bool in_heap = false;  // the buffers are in the shared heap
  bool quick = false;
  bench::Timing timing = bench::Timing::apart;
  int cold_calls = 1;
  bench::Effort effort;
  std::string ops;
  std::string sizes;
  int seconds = 0;  // for all points together; 0: not given
  // Options with which the measurement can be repeated; empty: not given.
  std::string mpi;  // the launcher, if there is one MPI
  std::string mpi_library;
  std::string peers;

  bool has_peers() const { return measured.mpis.size() > 1; }
  // Returns whether a point is below the bar in each of its repetitions.
  bool misses_bar() const;
  PredictionError prediction_error() const;
};

// Returns how far a prediction is off; none without one or if calls fell back to the MPI.
std::optional<double> times_off(const bench::PointResult& one);

std::string bench_mpi_text(const MpiBenchReport& report, int columns);

inline constexpr int bench_mpi_json_schema = 1;

std::string bench_mpi_json(const MpiBenchReport& report);

// The results of `huddle bench engine --table`.
struct BenchTableReport {
  machine::Machine machine;
  std::string machine_file;  // as in EngineBenchReport
  bench::Binding binding;
  bool dry_run = false;  // predictions only
  bool simulated = false;
  bool quick = false;
  int rounds = 0;  // as requested
  bool interrupted = false;
  std::vector<std::string> notes;
  std::vector<bench::OperationTable> tables;

  // Returns the error over all measured cells.
  PredictionError prediction_error() const;
  // Returns the error of the simulated times.
  PredictionError simulation_error() const;
  // Number of measured sizes, and of those with huddle's choice within a tenth of the fastest.
  struct Choices {
    std::size_t points = 0;
    std::size_t near_best = 0;
  };
  Choices choices() const;
};

std::string bench_table_text(const BenchTableReport& report, int columns);
std::string bench_table_markdown(const BenchTableReport& report);
// Returns the document that docs/choices.md describes.
std::string bench_table_json(const BenchTableReport& report);

// The following functions are shared by text and Markdown.

// Describes the machine, the ranks and the figures of the tables.
std::string bench_table_ground(const BenchTableReport& report, std::string_view mark_of_choice);
// Returns for example "0.143/0.151": predicted, simulated and measured time, the latter two if
// available. Marked if the prediction is far from the measurement.
std::string figures_text(const bench::Cell& cell);
// Returns "nothing" if there are no needs.
std::string needs_text(const bench::AlgorithmRow& row);
// Returns for example "alltoall (alltoallv, alltoallw: pairwise)".
std::string operation_text(const bench::OperationTable& table);

// One point of a file that `huddle bench --json FILE` wrote.
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
  std::string timing = std::string(name(bench::Timing::apart));  // not contained in early files
  std::vector<std::string> mpis;
  std::vector<MeasuredPoint> points;
};

// Throws InputError with a description of the error in the file.
MeasuredRun read_measured_run(const std::string& path);

// The same point in both runs.
struct Change {
  MeasuredPoint before;
  MeasuredPoint after;

  // Returns how many times faster huddle has become. Divides the ratios to the MPI, which was
  // measured in the same minutes, because the machine may have changed between the runs. The
  // interval covers all combinations of both intervals.
  bench::Estimate estimate() const;
  bool is_slower_than_bar() const;  // with certainty
};

// Returns the points of both runs in the order of the first run.
std::vector<Change> changes(const MeasuredRun& before, const MeasuredRun& after);

// Includes the differences between the runs.
std::string bench_compare_text(const MeasuredRun& before, const MeasuredRun& after,
                               const std::vector<Change>& all, int columns);

}  // namespace huddle::cli

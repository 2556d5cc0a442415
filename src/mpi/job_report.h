// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The report on the collectives of all ranks of a job on one node. It divides the time that ranks
// spend in collectives into waiting for ranks that entered later, which no implementation of the
// collectives can save, and transfer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/call_log.h"
#include "mpi/stats.h"
#include "runtime/select/operation.h"

namespace huddle::mpi {

// A quantity over the ranks that take part.
struct OverRanks {
  double least = 0;
  double mean = 0;
  double most = 0;
};

// The calls of one kind on the communicators with the same ranks.
struct JobRow {
  CallKind kind;
  std::uint64_t calls = 0;
  double bytes_per_call = 0;   // of a rank's data, mean over the ranks
  double common_per_call = 0;  // of the size that selects the algorithm
  OverRanks seconds;
  // False if the ranks' calls cannot be matched. The times below are then unknown.
  bool is_divided = false;
  double undivided_seconds = 0;  // the mean over the ranks if it could not be divided
  OverRanks waiting_seconds;
  OverRanks transfer_seconds;
  double typical_ns = 0;  // median over the calls of the longest transfer of a rank
  // Only for calls that the MPI ran: the time that huddle is predicted to take, and to save of the
  // ranks' mean transfer time.
  std::optional<double> predicted_ns = {};
  double saving_seconds = 0;
};

struct JobGroup {
  std::vector<int> members;
  std::vector<JobRow> rows;  // those with the longest time first
};

// The rank that entered most collectives last.
struct LateRank {
  int rank = 0;
  double share = 0;    // of the calls
  double late_ns = 0;  // in these calls, the mean time after the other ranks' mean
};

struct JobReport {
  int ranks = 0;
  double run_seconds = 0;
  std::vector<JobGroup> groups;  // those with the longest time first
  OverRanks seconds;
  OverRanks waiting_seconds;   // of the divided rows
  OverRanks transfer_seconds;  // of the divided rows
  std::optional<LateRank> late = {};
  bool is_calibrated = false;  // the predictions are based on figures of this machine

  // Sums a quantity that is a mean over the ranks of a row, and returns the mean over all ranks.
  double mean_over_job(double JobRow::*quantity) const;
  double saving_seconds() const { return mean_over_job(&JobRow::saving_seconds); }
  double undivided_seconds() const { return mean_over_job(&JobRow::undivided_seconds); }
};

// Predicts the calls of a job that ran without huddle.
struct Prediction {
  // Returns the time of a call on these ranks of the job, or nothing if huddle would not run it.
  // Empty if nothing is to be predicted.
  std::function<std::optional<double>(select::Operation operation, std::size_t bytes,
                                      std::span<const int> members)>
      ns = {};
  bool is_calibrated = false;  // based on figures of this machine
};

// Combines the reports of all ranks.
JobReport job_report(std::span<const RankReport> by_rank, const Prediction& prediction);

// The circumstances of a run.
struct JobFacts {
  bool was_off = false;
  // The collectives that huddle does not handle, by their MPI names, with their numbers of calls on
  // rank 0.
  std::vector<std::pair<std::string, std::size_t>> others = {};
  std::vector<Stats::Trials> trials = {};
};

// Returns lines for the end of a program: the division of the time, the predicted saving if huddle
// was off, and the rows that matter most. Empty if there were no collectives between ranks.
std::string job_report_text(const JobReport& report, const JobFacts& facts);

// Returns a document of schema version 1, "command" is "stats".
std::string job_report_json(const JobReport& report, const JobFacts& facts);

}  // namespace huddle::mpi

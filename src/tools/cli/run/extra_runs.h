// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The runs of `huddle run --compare` whose times are not compared. They measure the start-up cost
// and the share of the run time in collectives.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/harness/ratio.h"
#include "tools/bench/mpi/timed_run.h"
#include "tools/launch/launch_plan.h"

namespace huddle::cli {

// Wall times of the compared commands with a program that has no work of its own in place of the
// user's program.
struct StartUp {
  bool with_mpi = false;  // it begins and ends MPI
  std::array<std::vector<double>, bench::side_names.size()> wall_seconds = {};  // by Side

  const std::vector<double>& of(bench::Side side) const {
    return wall_seconds[static_cast<std::size_t>(side)];
  }
  // Returns the seconds that huddle adds: the median of the differences within a turn and their
  // confidence interval.
  // Requires: at least one turn.
  bench::Estimate added() const;
};

// The share of the time between MPI_Init and MPI_Finalize that ranks spent in blocking collectives,
// from 0 to 1, one value per run: the mean of the ranks, or that of rank 0 if not all ranks report.
struct CollectiveShares {
  std::array<std::vector<double>, bench::side_names.size()> shares = {};  // by Side

  const std::vector<double>& of(bench::Side side) const {
    return shares[static_cast<std::size_t>(side)];
  }
};

// The additional figures. Those that cannot be measured are missing.
struct Extras {
  std::optional<StartUp> start_up = {};
  std::optional<CollectiveShares> collectives = {};
};

// Return whether huddle's summary in a run's output shows that the program called collectives, or
// MPI at all.
bool has_called_collectives(const std::string& output);
bool has_called_mpi(const std::string& output);

// Returns the share that a run with --verbose reported; nothing if it reported none.
std::optional<double> reported_share(const std::string& output);

// Runs the additional commands after each turn of compare_whole_runs(), so that all figures are
// from the same time.
class ExtraRuns {
 public:
  // Returns a command with huddle, started with these options of `huddle run`.
  using WithHuddle = std::function<bench::Spawned(const std::vector<std::string>& options,
                                                  const std::vector<std::string>& command)>;
  // `native` is the compared command without huddle. Keeps references to the others.
  ExtraRuns(const launch::Request& request, const launch::Plan& plan, bench::Spawned native,
            WithHuddle with_huddle, const std::atomic<bool>& stop)
      : request_(request),
        plan_(plan),
        native_(std::move(native)),
        with_huddle_(std::move(with_huddle)),
        stop_(stop) {}

  // Throws Stopped.
  void after_round(const bench::WholeRuns& runs);
  // Returns what was measured at least once.
  Extras measured() const;

 private:
  using Sides = std::array<bench::Spawned, bench::side_names.size()>;

  void prepare(const std::string& huddle_output);
  std::optional<std::vector<std::string>> program_without_work(bool calls_mpi) const;
  std::vector<std::string> libraries() const;
  std::optional<double> wall_seconds(const bench::Spawned& command) const;
  std::optional<double> share(const bench::Spawned& command) const;
  void time_start_up(std::size_t round);
  void time_collectives();

  const launch::Request& request_;
  const launch::Plan& plan_;
  bench::Spawned native_;
  WithHuddle with_huddle_;
  const std::atomic<bool>& stop_;
  Extras measured_;
  Sides start_up_;  // the commands, if measured_.start_up has a value
  Sides observed_;  // likewise for measured_.collectives
  std::size_t rounds_ = 0;
};

}  // namespace huddle::cli

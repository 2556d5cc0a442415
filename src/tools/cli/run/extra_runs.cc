// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/run/extra_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "common/error.h"
#include "tools/bench/mpi/mpi_job.h"
#include "tools/launch/inspect.h"
#include "tools/launch/preload.h"
#include "tools/launch/program.h"

namespace huddle::cli {
namespace {

using bench::Side;

// Runs that time each collective are measured in every second turn, because they take as long as
// the compared ones. Three of each are the fewest whose median is not one of the extremes.
constexpr std::size_t turns_per_observed = 2;
constexpr std::size_t most_observed = 3;

constexpr std::string_view helper = "huddle-start-up";

std::size_t index(Side side) { return static_cast<std::size_t>(side); }

std::string search_path(const launch::Request& request) {
  return settings::value_of(request.environment, "PATH");
}

}  // namespace

bench::Estimate StartUp::added() const {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < of(Side::huddle).size(); ++i) {
    seconds.push_back(of(Side::huddle)[i] - of(Side::native)[i]);
  }
  return bench::estimate(seconds);
}

bool has_called_collectives(const std::string& output) {
  return output.find(" collectives of rank 0 handled") != std::string::npos;
}

bool has_called_mpi(const std::string& output) {
  return has_called_collectives(output) ||
         output.find("huddle: rank 0 called no collective") != std::string::npos;
}

std::optional<double> reported_share(const std::string& output) {
  const std::size_t begin = output.rfind("blocking collectives took ");
  if (begin == std::string::npos) return std::nullopt;
  const std::string line = output.substr(begin, output.find('\n', begin) - begin);
  const std::size_t number = line.find('(');
  const std::size_t end = line.find(" %)");
  if (number == std::string::npos || end == std::string::npos || end < number) return std::nullopt;
  constexpr double percent = 0.01;
  return std::strtod(line.c_str() + number + 1, nullptr) * percent;
}

Extras ExtraRuns::measured() const {
  Extras extras = measured_;
  if (extras.start_up && extras.start_up->of(Side::huddle).empty()) extras.start_up.reset();
  if (extras.collectives && extras.collectives->of(Side::huddle).empty()) {
    extras.collectives.reset();
  }
  return extras;
}

void ExtraRuns::after_round(const bench::WholeRuns& runs) {
  if (rounds_ == 0) prepare(runs.huddle_output);
  if (measured_.start_up) time_start_up(rounds_);
  if (rounds_ % turns_per_observed == 0 && measured_.collectives) time_collectives();
  ++rounds_;
}

// Decides what can be measured. The first start-up runs are not counted: they load the files of the
// program into memory.
void ExtraRuns::prepare(const std::string& huddle_output) {
  const bool calls_mpi = has_called_mpi(huddle_output);
  if (has_called_collectives(huddle_output)) {
    observed_ = {with_huddle_({"--off", "-v"}, request_.command),
                 with_huddle_({"-v"}, request_.command)};
    measured_.collectives.emplace();
  }
  const auto words = program_without_work(calls_mpi);
  if (!words) return;
  const std::vector<std::string> command = launch::with_program_replaced(request_, plan_, *words);
  if (command.empty()) return;
  bench::Spawned native = native_;
  native.words = command;
  if (!plan_.launcher) native.program = command.front();
  start_up_ = {std::move(native), with_huddle_({}, command)};
  const bool works = std::all_of(start_up_.begin(), start_up_.end(), [this](const auto& side) {
    return wall_seconds(side).has_value();
  });
  if (works) measured_.start_up = StartUp{.with_mpi = calls_mpi};
}

// Returns none if the helper is not installed or the MPI of the program is not known.
std::optional<std::vector<std::string>> ExtraRuns::program_without_work(bool calls_mpi) const {
  const std::filesystem::path path =
      std::filesystem::path(launch::find_library(request_.own_program).folder) / helper;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  std::vector<std::string> words = {path.string()};
  if (!calls_mpi) return words;
  const std::vector<std::string> mpi = libraries();
  if (mpi.empty()) return std::nullopt;
  words.push_back(fmt::format("{}", fmt::join(mpi, ":")));
  return words;
}

// Returns the libraries that may contain the program's MPI: that of the launcher, and those that
// the program names. The former has a path, and an interpreter names none.
std::vector<std::string> ExtraRuns::libraries() const {
  std::vector<std::string> found;
  if (plan_.programs.empty()) return found;
  if (plan_.launcher) {
    try {
      const bench::Mpi mpi = bench::find_mpi(plan_.program, "", search_path(request_));
      found.push_back(mpi.library);
    } catch (const Error&) {
      found.clear();
    }
  }
  const auto program = launch::find_program(plan_.programs.front(), search_path(request_));
  const auto elf = program ? launch::read_elf(*program) : std::nullopt;
  if (!elf) return found;
  for (const std::string& name : elf->needed) {
    if (name.starts_with("libmpi.") || name.starts_with("libmpich.") ||
        name.starts_with("libmpi_abi.")) {
      found.push_back(name);
    }
  }
  return found;
}

std::optional<double> ExtraRuns::wall_seconds(const bench::Spawned& command) const {
  const bench::TimedRun run = bench::timed_run(command, stop_);
  return run.status == 0 ? std::optional(run.wall_seconds) : std::nullopt;
}

std::optional<double> ExtraRuns::share(const bench::Spawned& command) const {
  const bench::TimedRun run = bench::timed_run(command, stop_);
  return run.status == 0 ? reported_share(run.output) : std::nullopt;
}

// Alternates the order, as the compared runs do.
void ExtraRuns::time_start_up(std::size_t round) {
  const Side first = round % 2 == 0 ? Side::huddle : Side::native;
  const Side second = round % 2 == 0 ? Side::native : Side::huddle;
  const auto one = wall_seconds(start_up_[index(first)]);
  const auto other = wall_seconds(start_up_[index(second)]);
  if (!one || !other) return;
  measured_.start_up->wall_seconds[index(first)].push_back(*one);
  measured_.start_up->wall_seconds[index(second)].push_back(*other);
}

// Stops measuring the share if a run does not report it.
void ExtraRuns::time_collectives() {
  CollectiveShares& shares = *measured_.collectives;
  if (shares.of(Side::native).size() == most_observed) return;
  const auto off = share(observed_[index(Side::native)]);
  const auto on = off ? share(observed_[index(Side::huddle)]) : std::nullopt;
  if (!on) {
    if (shares.of(Side::native).empty()) measured_.collectives.reset();
    return;
  }
  shares.shares[index(Side::native)].push_back(*off);
  shares.shares[index(Side::huddle)].push_back(*on);
}

}  // namespace huddle::cli

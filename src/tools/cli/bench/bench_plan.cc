// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/bench/bench_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/text.h"
#include "runtime/team/tuner.h"
#include "tools/launch/preload.h"

namespace huddle::cli {
namespace {

constexpr int usual_mpi_ranks = 2;
constexpr const char* usual_sizes = "8:4M";
constexpr const char* quick_sizes = "8,1K,32K,1M";
// A quick run, including start and end of the job, takes less than a minute.
constexpr double usual_point_seconds = 3;
constexpr double quick_point_seconds = 1.2;
// A start takes a third of a second, and starts vary.
constexpr double cold_point_seconds = 12;
constexpr double usual_half_width = 0.02;
constexpr double quick_half_width = 0.05;
constexpr double cold_half_width = 0.1;
constexpr int most_cold_calls = 1000;

std::size_t place_of(const std::string& under, const std::vector<bench::Mpi>& mpis) {
  if (under.empty()) return 0;
  std::vector<std::string> names;
  for (const bench::Mpi& mpi : mpis) names.push_back(mpi.name);
  const auto found = std::find(names.begin(), names.end(), under);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw UsageError(
      fmt::format("--under must be one of {1}, not '{0}'", under, fmt::join(names, ", ")));
}

// Returns the library next to the rank programs.
launch::Library own_library() {
  std::error_code error;
  return launch::find_library(std::filesystem::read_symlink("/proc/self/exe", error).string());
}

// Returns the command that preloads the shared heap for the ranks' buffers. It applies to the ranks
// only, because the launcher may use a different C library. It is relative to the rank program,
// because the loader splits its list at spaces.
std::vector<std::string> preloading_heap(const launch::Library& library) {
  if (library.heap.empty()) {
    throw FailureError(
        fmt::format("libhuddle_heap.so is not in {}; reinstall huddle", library.folder));
  }
  const std::string heap = "$ORIGIN/" + std::filesystem::path(library.heap).filename().string();
  const char* theirs = std::getenv(launch::preload_name.data());
  return {"env", fmt::format("{}={}", launch::preload_name,
                             launch::joined_preload(heap, theirs ? theirs : ""))};
}

std::string search_path() {
  const char* path = std::getenv("PATH");
  return path == nullptr ? "" : path;
}

bench::Timing timing_of(const MpiBenchOptions& options) {
  if (!options.cold.empty()) return bench::Timing::cold;
  if (options.loop.empty()) return bench::Timing::apart;
  const auto* const end = bench::timings.begin() + bench::loops;
  const auto* const found = std::find_if(bench::timings.begin(), end, [&](bench::Timing timing) {
    return options.loop == name(timing);
  });
  if (found != end) return *found;
  throw UsageError(fmt::format(
      "--loop: '{}' is not one of {}", options.loop,
      fmt::join(bench::timing_names.begin(), bench::timing_names.begin() + bench::loops, ", ")));
}

int cold_calls_of(const MpiBenchOptions& options) {
  if (options.cold.empty()) return 1;
  const auto calls = whole_number(options.cold);
  if (calls && *calls >= 1 && *calls <= most_cold_calls) return static_cast<int>(*calls);
  throw UsageError(fmt::format("--cold must be a number of calls from 1 to {1}, not '{0}'",
                               options.cold, most_cold_calls));
}

bench::Effort effort_of(const MpiBenchOptions& options, std::size_t points) {
  bench::Effort effort{options.quick ? quick_point_seconds : usual_point_seconds,
                       options.quick ? quick_half_width : usual_half_width};
  if (!options.cold.empty()) effort = {cold_point_seconds, cold_half_width};
  if (options.seconds > 0) {
    effort.point_seconds = static_cast<double>(options.seconds) / static_cast<double>(points);
  }
  return effort;
}

// Returns an absolute path because ranks may run in another folder.
std::string whole(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

}  // namespace

std::string bench_sizes(const MpiBenchOptions& options) {
  if (!options.sizes.empty()) return options.sizes;
  return options.quick || !options.cold.empty() ? quick_sizes : usual_sizes;
}

void refuse_crowded_real_time(int ranks, int processors) {
  const int policy = sched_getscheduler(0);
  if ((policy != SCHED_FIFO && policy != SCHED_RR) || ranks <= processors) return;
  throw UsageError(
      fmt::format("{} ranks on {} hardware threads would wait for each other forever under a "
                  "real-time policy; use nice instead of chrt",
                  ranks, processors));
}

bench::MpiPlan mpi_plan(const MpiBenchOptions& options, const std::string& sizes,
                        const std::string& machine_file, bool with_heap) {
  bench::MpiPlan plan;
  if (options.peers.empty()) {
    plan.mpis = {bench::find_mpi(options.mpi, options.mpi_library, search_path())};
  } else {
    plan.mpis = bench::find_peers(options.peers);
  }
  plan.under = place_of(options.under, plan.mpis);
  const launch::Library library = own_library();
  plan.job_options = {.ranks = options.ranks > 0 ? options.ranks : usual_mpi_ranks,
                      .programs = library.folder,
                      .machine_file = whole(machine_file),
                      .environment = {fmt::format("HUDDLE_HEAP={}", with_heap ? "on" : "off")},
                      .rank_prefix = {}};
  plan.timing = timing_of(options);
  plan.cold_calls = cold_calls_of(options);
  // huddle is active from the first call on and compares all implementations before the timed
  // calls, as programs that make many calls find it. Cold timing uses the user's settings.
  if (plan.timing != bench::Timing::cold) {
    plan.job_options.environment.emplace_back("HUDDLE_ACTIVATE_AFTER=0");
    plan.job_options.environment.push_back(
        fmt::format("HUDDLE_TUNE_AFTER={}", team::Tuner::calls_before_trial));
  }
  if (with_heap) plan.job_options.rank_prefix = preloading_heap(library);
  plan.points = bench::points_of(bench::operations_from(options.ops), bench::sizes_from(sizes));
  plan.effort = effort_of(options, plan.points.size());
  plan.is_bounded = options.seconds > 0;
  return plan;
}

std::string launcher_of(const bench::MpiPlan& plan, const MpiBenchOptions& options) {
  if (!options.peers.empty()) return "";
  return fmt::format("{}", fmt::join(plan.mpis.front().launcher, " "));
}

}  // namespace huddle::cli

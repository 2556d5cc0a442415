// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/ucx/score.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <limits>

#include "common/arithmetic.h"

namespace huddle::ucx {

std::optional<Version> version_from(std::string_view text) {
  Version version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc() || version.major < 0 || version.minor < 0) return std::nullopt;
  if (minor.ptr != end && *minor.ptr != '.') return std::nullopt;
  return version;
}

std::string text_of(const Version& version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

namespace {

// Returns the time of a block through shared memory with warm cache lines, scaled by the slowdown
// of concurrent copies.
double copied_ns(const machine::CostModel& model, double bytes, int ranks) {
  const std::vector<int> cores = machine::first_pu_of_cores(model.machine().topology);
  if (cores.size() < 2) return std::numeric_limits<double>::infinity();
  const std::size_t used =
      std::clamp<std::size_t>(static_cast<std::size_t>(ranks), 2, cores.size());
  const machine::Copy alone{.bytes = bytes, .copier = cores.front(), .peer = cores.front()};
  machine::Copy together = alone;
  together.others = ranks - 1;
  const double slowdown = std::max(1.0, model.copy_ns(together) / model.copy_ns(alone));
  return model.handoff_ns(bytes, cores.front(), cores[used - 1], machine::HandoffKind::ring) *
         slowdown;
}

}  // namespace

std::vector<std::string> ways_of(const machine::Machine& machine) {
  std::vector<std::string> ways = {std::string(shared_memory)};
  for (const machine::PathCurve& curve : machine.paths) {
    if (std::find(ways.begin(), ways.end(), curve.path) == ways.end()) ways.push_back(curve.path);
  }
  return ways;
}

double communication_cost_ns(const machine::CostModel& model, std::string_view way, double bytes,
                             int ranks) {
  return way == shared_memory ? copied_ns(model, bytes, ranks)
                              : model.path_ns(way, bytes, ranks - 1);
}

namespace {

constexpr double cma_mb_per_s = 11145;
constexpr double knem_mb_per_s = 13862;
constexpr double latency_ns = 80;
constexpr double cma_registration_ns = 9;
// KNEM with UCX's registration cache, and without it.
constexpr double knem_cached_registration_ns = 180;
constexpr double knem_registration_ns = 1200;
constexpr double knem_registration_ns_per_byte = 0.007;

constexpr double cma_first_overhead_ns = 400;
constexpr double knem_first_overhead_ns = 250;
constexpr double overhead_ns = 2000;  // CMA and KNEM, from copies_have_one_overhead on

constexpr int most_ranks_divided_by = 8;

constexpr double first_lane_ratio = 10;
constexpr double later_lane_ratio = 4;

// Versions 1.13 and 1.15 switch to rendezvous at 8,256 bytes, 1.16 at 5,742, 1.19 at 5,346, 1.20
// and 1.22 at 5,029.
constexpr double threshold_bytes = 8256;
constexpr double estimated_threshold_bytes = 5029;

Rating cma_rating(const Version& version) {
  Rating rating;
  rating.dedicated_bytes_per_s = cma_mb_per_s * ucx_mb;
  rating.latency_ns = latency_ns;
  rating.overhead_ns = version < copies_have_one_overhead ? cma_first_overhead_ns : overhead_ns;
  rating.registration_ns = cma_registration_ns;
  return rating;
}

Rating knem_rating(const Version& version) {
  Rating rating;
  double& rate =
      version < knem_is_each_ranks_own ? rating.shared_bytes_per_s : rating.dedicated_bytes_per_s;
  rate = knem_mb_per_s * ucx_mb;
  rating.latency_ns = latency_ns;
  rating.overhead_ns = version < copies_have_one_overhead ? knem_first_overhead_ns : overhead_ns;
  if (version < knem_registers_each_time) {
    rating.registration_ns = knem_cached_registration_ns;
  } else {
    rating.registration_ns = knem_registration_ns;
    rating.registration_ns_per_byte = knem_registration_ns_per_byte;
  }
  return rating;
}

}  // namespace

int ranks_divided_by(const Version& version, int ranks) {
  return version < division_is_capped ? ranks : std::min(ranks, most_ranks_divided_by);
}

double rate_of(const Rating& rating, int sharers) {
  return rating.dedicated_bytes_per_s + rating.shared_bytes_per_s / sharers;
}

double score(const Rating& local, const Rating& remote, double bytes, int sharers) {
  const double rate = std::min(rate_of(local, sharers), rate_of(remote, sharers));
  const double ns = bytes / rate * ns_per_s + std::max(local.latency_ns, remote.latency_ns) +
                    local.overhead_ns + local.registration_ns +
                    local.registration_ns_per_byte * bytes;
  return ns_per_s / ns;
}

std::vector<RatedPath> shipped_ratings(const Version& version) {
  return {{"cma", cma_rating(version)}, {"knem", knem_rating(version)}};
}

double shipped_lane_ratio(const Version& version) {
  return version < lane_ratio_is_lower ? first_lane_ratio : later_lane_ratio;
}

double eager_below_bytes(const Version& version) {
  return version < estimates_select_protocols ? threshold_bytes : estimated_threshold_bytes;
}

std::optional<std::string_view> best_path(std::span<const RatedPath> paths, double bytes,
                                          int ranks) {
  const auto score_of = [&](const RatedPath& one) {
    return score(one.rating, one.rating, bytes, ranks);
  };
  const RatedPath* best = nullptr;
  for (const RatedPath& one : paths) {
    if (best == nullptr || score_of(one) > score_of(*best)) best = &one;
  }
  return best == nullptr ? std::nullopt : std::optional(best->path);
}

}  // namespace huddle::ucx

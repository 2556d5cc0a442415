// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/ucx/score.h"

#include <algorithm>

#include "common/units.h"

namespace huddle::ucx {
namespace {

constexpr double cma_mb_per_s = 11145;
constexpr double knem_mb_per_s = 13862;
constexpr double latency_ns = 80;
constexpr double cma_registration_ns = 9;
// With UCX's own cache of registrations, and each time anew.
constexpr double knem_cached_registration_ns = 180;
constexpr double knem_registration_ns = 1200;
constexpr double knem_registration_ns_per_byte = 0.007;

constexpr double cma_first_overhead_ns = 400;
constexpr double knem_first_overhead_ns = 250;
constexpr double overhead_ns = 2000;  // of both, once they have one

constexpr int most_ranks_divided_by = 8;

constexpr double first_lane_ratio = 10;
constexpr double later_lane_ratio = 4;

// 1.13 and 1.15 switch at 8,256 bytes; 1.16 at 5,742, 1.19 at 5,346, 1.20 and 1.22 at 5,029.
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

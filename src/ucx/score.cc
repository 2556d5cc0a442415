// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "ucx/score.h"

namespace huddle::ucx {
namespace {

constexpr double ns_per_s = 1e9;
constexpr double cma_mb_per_s = 11145;
constexpr double knem_mb_per_s = 13862;
constexpr double latency_ns = 80;

}  // namespace

double rate_of(const Rating& rating, int ranks) {
  return rating.dedicated_bytes_per_s + rating.shared_bytes_per_s / ranks;
}

double score(const Rating& rating, double bytes, int ranks) {
  const double ns = bytes / rate_of(rating, ranks) * ns_per_s + rating.latency_ns;
  return ns_per_s / ns;
}

std::vector<RatedPath> shipped_ratings(const Version& version) {
  const double knem = knem_mb_per_s * ucx_mb;
  const bool is_own = version >= knem_is_each_ranks_own;
  return {{"cma", {cma_mb_per_s * ucx_mb, 0, latency_ns}},
          {"knem", {is_own ? knem : 0, is_own ? 0 : knem, latency_ns}}};
}

std::optional<std::string_view> best_path(std::span<const RatedPath> paths, double bytes,
                                          int ranks) {
  const RatedPath* best = nullptr;
  for (const RatedPath& one : paths) {
    if (best == nullptr || score(one.rating, bytes, ranks) > score(best->rating, bytes, ranks)) {
      best = &one;
    }
  }
  return best == nullptr ? std::nullopt : std::optional(best->path);
}

}  // namespace huddle::ucx

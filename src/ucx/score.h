// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// How UCX compares ways to move a message, and what it takes for granted about them.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ucx/version.h"

namespace huddle::ucx {

// What UCX prints and reads as MB and MBps.
inline constexpr double ucx_mb = 1048576;

// What UCX takes a transport for.
struct Rating {
  double dedicated_bytes_per_s = 0;  // each rank has that for itself
  double shared_bytes_per_s = 0;     // all ranks of the node have that together
  double latency_ns = 0;

  bool operator==(const Rating&) const = default;
};

// What one of so many ranks gets.
double rate_of(const Rating& rating, int ranks);

// 1 over the seconds that a message takes: the greater, the better.
double score(const Rating& rating, double bytes, int ranks);

struct RatedPath {
  std::string_view path;  // as in machine files: "cma", "knem"
  Rating rating;
};

// The constants that this version brings for paths into a peer's memory. pre: it is known.
std::vector<RatedPath> shipped_ratings(const Version& version);

// Whether UCX sends a part of a large message by a lane of this rate, beside the best one.
constexpr bool takes_lane(double bytes_per_s, double best_bytes_per_s, double lane_ratio) {
  return bytes_per_s * lane_ratio >= best_bytes_per_s;
}

// UCX_MULTI_LANE_MAX_RATIO as 1.9 brings it; from which version on it is less is not known here.
inline constexpr double oldest_lane_ratio = 10;

// The message by which UCX compares paths.
inline constexpr double judged_bytes = 262144;

// The path that UCX takes among these; nothing of none.
std::optional<std::string_view> best_path(std::span<const RatedPath> paths, double bytes,
                                          int ranks);

}  // namespace huddle::ucx

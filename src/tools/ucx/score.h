// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The score by which UCX compares ways to move a message, and its constants.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tools/ucx/version.h"

namespace huddle::ucx {

// The unit that UCX prints and reads as MB and MBps.
inline constexpr double ucx_mb = 1048576;

// UCX's constants for one transport at one end.
struct Rating {
  double dedicated_bytes_per_s = 0;  // each rank has this rate for itself
  double shared_bytes_per_s = 0;     // the ranks of a node share this rate
  double latency_ns = 0;
  double overhead_ns = 0;  // of the interface, for each operation
  // What it costs to register the memory of a message.
  double registration_ns = 0;
  double registration_ns_per_byte = 0;

  bool operator==(const Rating&) const = default;
};

// Returns the number of ranks by which this version divides a shared rate when it estimates how
// long a protocol takes.
int ranks_divided_by(const Version& version, int ranks);

// Returns the rate of one rank if `sharers` ranks use the shared part.
double rate_of(const Rating& rating, int sharers);

// Returns UCX's score of a path: 1 over the seconds that a message takes. Higher is better. The
// slower end limits the rate; the local end pays overhead and registration.
double score(const Rating& local, const Rating& remote, double bytes, int sharers);

struct RatedPath {
  std::string_view path;  // as in machine files: "cma", "knem"
  Rating rating;
};

// Returns the constants that this version has for paths into a peer's memory on x86. Requires:
// version is at least oldest_known.
std::vector<RatedPath> shipped_ratings(const Version& version);

// Returns whether UCX sends a part of a large message over a lane of this rate, beside the best
// lane.
constexpr bool takes_lane(double bytes_per_s, double best_bytes_per_s, double lane_ratio) {
  return bytes_per_s * lane_ratio >= best_bytes_per_s;
}

// Returns this version's default of UCX_MULTI_LANE_MAX_RATIO.
double shipped_lane_ratio(const Version& version);

// Returns the size from which on this version, with its defaults, lets the receiver read a message
// from the sender's memory; UCX copies smaller messages through shared memory ("eager"). The
// figures are those that ucx_info prints for ucp_tag_send with CMA.
double eager_below_bytes(const Version& version);

// The message size at which UCX compares paths. The winner carries all messages that are not eager.
inline constexpr double judged_bytes = 262144;

// Returns the path that UCX selects among these within a node, whose two ends have the same
// constants; nothing if there are none.
std::optional<std::string_view> best_path(std::span<const RatedPath> paths, double bytes,
                                          int ranks);

}  // namespace huddle::ucx

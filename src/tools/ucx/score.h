// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The score by which UCX compares the ways to move a message, and UCX's constants.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/cost.h"

namespace huddle::ucx {

struct Version {
  int major = 0;
  int minor = 0;

  auto operator<=>(const Version&) const = default;
};

// Parses "1.13" or "1.13.1"; returns nothing for anything else.
std::optional<Version> version_from(std::string_view text);
std::string text_of(const Version& version);

// The oldest version whose score is known.
inline constexpr Version oldest_known{1, 9};
// UCX_MULTI_LANE_MAX_RATIO is 10 in older versions and 4 since this one (openucx/ucx 6153).
inline constexpr Version lane_ratio_is_lower{1, 11};
// Since this version UCX assumes the same overhead per operation for CMA and KNEM.
inline constexpr Version copies_have_one_overhead{1, 12};
// Older versions divide KNEM's figure by the ranks of the node (openucx/ucx 8255).
inline constexpr Version knem_is_each_ranks_own{1, 14};
// Since this version KNEM registers memory for each message, without a cache.
inline constexpr Version knem_registers_each_time{1, 16};
// Since this version UCX selects protocols by their estimated time; older versions select them by
// thresholds unless UCX_PROTO_ENABLE=y.
inline constexpr Version estimates_select_protocols{1, 16};
// Since this version sections of ucx.conf apply only to the CPU models that they name.
inline constexpr Version conf_has_sections{1, 17};
// Since this version UCX divides a shared rate by at most 8 ranks when it estimates protocols.
inline constexpr Version division_is_capped{1, 20};

// Name of the way through shared memory: copied in by the sender and out by the receiver. The other
// ways within a node are paths into a peer's memory, by their names in the machine file: "cma",
// "knem", "xpmem".
inline constexpr std::string_view shared_memory = "copied";

// Returns the ways that were measured on this machine, in the order of its file.
std::vector<std::string> ways_of(const machine::Machine& machine);

// Returns the time in ns of one message while `ranks` ranks receive one each; infinity for a way
// that the machine does not have.
double communication_cost_ns(const machine::CostModel& model, std::string_view way, double bytes,
                             int ranks);

// The unit that UCX prints and reads as MB and MBps.
inline constexpr double ucx_mb = 1048576;

// UCX's constants for a transport, at one end of a path.
struct Rating {
  double dedicated_bytes_per_s = 0;  // rate of each rank
  double shared_bytes_per_s = 0;     // rate that the ranks of a node share
  double latency_ns = 0;
  double overhead_ns = 0;  // of the interface, per operation
  // Cost of registering the memory of a message.
  double registration_ns = 0;
  double registration_ns_per_byte = 0;

  bool operator==(const Rating&) const = default;
};

// Returns the number of ranks by which this version divides a shared rate in its estimates.
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

// Returns the constants that this version has for paths into a peer's memory on x86.
// Requires: version >= oldest_known.
std::vector<RatedPath> shipped_ratings(const Version& version);

// Returns whether UCX sends part of a large message over a lane of this rate, in addition to the
// best lane.
constexpr bool takes_lane(double bytes_per_s, double best_bytes_per_s, double lane_ratio) {
  return bytes_per_s * lane_ratio >= best_bytes_per_s;
}

// Returns this version's default of UCX_MULTI_LANE_MAX_RATIO.
double shipped_lane_ratio(const Version& version);

// Returns the message size from which this version, with its defaults, lets the receiver read from
// the sender's memory; smaller messages are copied through shared memory ("eager"). The values are
// those that ucx_info prints for ucp_tag_send with CMA.
double eager_below_bytes(const Version& version);

// The message size at which UCX compares paths. The winner transfers all messages that are not
// eager.
inline constexpr double judged_bytes = 262144;

// Returns the path that UCX selects within a node, whose two ends have the same constants; nothing
// if `paths` is empty.
std::optional<std::string_view> best_path(std::span<const RatedPath> paths, double bytes,
                                          int ranks);

}  // namespace huddle::ucx

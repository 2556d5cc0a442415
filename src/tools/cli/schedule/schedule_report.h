// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Reports of `huddle schedule` and `huddle distance` as text, SVG and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/distance.h"
#include "simulate/network/simulation.h"
#include "tools/cli/console.h"

namespace huddle::cli {

inline constexpr int schedule_json_schema = 1;

struct ShownMessage {
  int from = 0;
  int to = 0;
  schedules::Part source;
  schedules::Part target;
};

struct ShownWork {
  int rank = 0;
  schedules::Work work;
};

struct ShownRound {
  std::int64_t number = 0;
  std::vector<ShownMessage> messages;
  std::vector<ShownWork> work;
};

struct ShownSchedule {
  schedules::Algorithm algorithm;
  schedules::Call call;
  std::int64_t blocks = 0;
  std::int64_t all_rounds = 0;
  std::optional<int> rank;           // the only rank that is shown
  schedules::RankTraffic most = {};  // of any rank that is shown
  std::vector<ShownRound> rounds;    // only rounds with something to show
};

// `rank`: the only rank to show; none: all ranks.
ShownSchedule show(const schedules::Algorithm& algorithm, const schedules::Schedule& schedule,
                   std::optional<int> rank);

std::string schedule_text(const ShownSchedule& shown, const Console& console);
std::string schedule_json(const ShownSchedule& shown);
std::string schedule_svg(const schedules::Algorithm& algorithm,
                         const schedules::Schedule& schedule);

// Returns for example "input", "output", "scratch 2".
std::string buffer_name(schedules::Buffer buffer);

inline constexpr int distance_json_schema = 1;

struct DistanceRow {
  std::string algorithm;                       // for example "allgather:ring"
  std::optional<schedules::Fraction> counted;  // none if no rank sends
  std::optional<schedules::Fraction> closed;   // by a closed form, if there is one
  std::optional<schedules::Fraction> printed;  // by the paper's formula, if it differs
  // Traffic of the messages on the fabric, if one was given; bytes stand for blocks.
  std::optional<network::Outcome> travel;
};

// All algorithms of an operation with `ranks` ranks.
struct DistancePoint {
  int ranks = 1;
  std::vector<DistanceRow> rows;
};

std::string distance_text(const std::vector<DistancePoint>& points, int columns);
// Draws bars for one point and lines for several.
// Requires: there is at least one point, and exactly one if its rows have `travel`.
std::string distance_svg(const std::string& operation, const std::vector<DistancePoint>& points);
std::string distance_json(const std::string& operation, const std::vector<DistancePoint>& points);

}  // namespace huddle::cli

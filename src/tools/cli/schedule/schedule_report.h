// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle schedule` prints.
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
  std::optional<int> rank;           // of whom alone
  schedules::RankTraffic most = {};  // of any rank that is shown
  std::vector<ShownRound> rounds;    // in which something is to be shown
};

// rank: nothing for all of them.
ShownSchedule show(const schedules::Algorithm& algorithm, const schedules::Schedule& schedule,
                   std::optional<int> rank);

std::string schedule_text(const ShownSchedule& shown, const Console& console);
std::string schedule_json(const ShownSchedule& shown);
std::string schedule_svg(const schedules::Algorithm& algorithm,
                         const schedules::Schedule& schedule);

// "input", "output", "scratch 2"
std::string buffer_name(schedules::Buffer buffer);

// What `huddle distance` prints.
inline constexpr int distance_json_schema = 1;

struct DistanceRow {
  std::string algorithm;                       // "allgather:ring"
  std::optional<schedules::Fraction> counted;  // nothing where nobody sends
  std::optional<schedules::Fraction> closed;   // a form that says the same, where there is one
  std::optional<schedules::Fraction> printed;  // that of the paper, where it is another
  // Where its messages go on a fabric, if one was named; bytes stand for blocks.
  std::optional<network::Outcome> travel;
};

// All algorithms of an operation among so many ranks.
struct DistancePoint {
  int ranks = 1;
  std::vector<DistanceRow> rows;
};

std::string distance_text(const std::vector<DistancePoint>& points, int columns);
// Of one number of ranks bars, of several lines. pre: there is a number of ranks; with `travel`
// there is one alone.
std::string distance_svg(const std::string& operation, const std::vector<DistancePoint>& points);
std::string distance_json(const std::string& operation, const std::vector<DistancePoint>& points);

}  // namespace huddle::cli

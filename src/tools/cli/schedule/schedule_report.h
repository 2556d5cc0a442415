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
  net::Part source;
  net::Part target;
};

struct ShownWork {
  int rank = 0;
  net::Work work;
};

struct ShownRound {
  std::int64_t number = 0;
  std::vector<ShownMessage> messages;
  std::vector<ShownWork> work;
};

struct ShownSchedule {
  net::Algorithm algorithm;
  net::Call call;
  std::int64_t blocks = 0;
  std::int64_t all_rounds = 0;
  std::optional<int> rank;         // of whom alone
  net::RankTraffic most = {};      // of any rank that is shown
  std::vector<ShownRound> rounds;  // in which something is to be shown
};

// rank: nothing for all of them.
ShownSchedule show(const net::Algorithm& algorithm, const net::Schedule& schedule,
                   std::optional<int> rank);

std::string schedule_text(const ShownSchedule& shown, const Console& console);
std::string schedule_json(const ShownSchedule& shown);
std::string schedule_svg(const net::Algorithm& algorithm, const net::Schedule& schedule);

// "input", "output", "scratch 2"
std::string buffer_name(net::Buffer buffer);

// What `huddle distance` prints.
inline constexpr int distance_json_schema = 1;

struct DistanceRow {
  std::string algorithm;                 // "allgather:ring"
  std::optional<net::Fraction> counted;  // nothing where nobody sends
  std::optional<net::Fraction> closed;   // a form that says the same, where there is one
  std::optional<net::Fraction> printed;  // that of the paper, where it is another
  // Where its messages go on a fabric, if one was named; bytes stand for blocks.
  std::optional<sim::Outcome> travel;
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

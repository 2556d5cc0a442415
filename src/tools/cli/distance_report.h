// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What `huddle distance` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/schedules/distance.h"
#include "simulate/network/simulation.h"

namespace huddle::cli {

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

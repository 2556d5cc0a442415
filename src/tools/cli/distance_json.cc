// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <nlohmann/json.hpp>

#include "tools/cli/distance_report.h"
#include "tools/cli/machine_json.h"

namespace huddle::cli {
namespace {

// The number, and the same exactly.
void add(Json& row, const std::string& key, const std::optional<net::Fraction>& fraction) {
  row[key] = fraction ? Json(fraction->value()) : Json(nullptr);
  row[key + "_exact"] = fraction ? Json(fraction->text()) : Json(nullptr);
}

void add_travel(Json& row, const sim::Outcome& travel) {
  row["by_switch_level"] = Json::array();
  for (const sim::LevelTraffic& level : travel.by_height) {
    row["by_switch_level"].push_back({{"messages", level.messages}, {"blocks", level.bytes}});
  }
  row["fullest_link"] = {{"name", travel.fullest_link}, {"blocks", travel.fullest_link_bytes}};
}

}  // namespace

std::string distance_json(const std::string& operation, const std::vector<DistancePoint>& points) {
  Json root = {{"schema", distance_json_schema}, {"command", "distance"}, {"operation", operation}};
  root["points"] = Json::array();
  for (const DistancePoint& point : points) {
    for (const DistanceRow& distance : point.rows) {
      Json row = {{"ranks", point.ranks}, {"algorithm", distance.algorithm}};
      add(row, "distance", distance.counted);
      add(row, "formula", distance.closed);
      add(row, "printed", distance.printed);
      if (distance.travel) add_travel(row, *distance.travel);
      root["points"].push_back(row);
    }
  }
  return json_text(root);
}

}  // namespace huddle::cli

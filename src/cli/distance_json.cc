// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <nlohmann/json.hpp>

#include "cli/distance_report.h"
#include "cli/machine_json.h"

namespace huddle::cli {
namespace {

using Json = nlohmann::ordered_json;

// The number, and the same exactly.
void add(Json& row, const std::string& key, const std::optional<net::Fraction>& fraction) {
  row[key] = fraction ? Json(fraction->value()) : Json(nullptr);
  row[key + "_exact"] = fraction ? Json(fraction->text()) : Json(nullptr);
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
      root["points"].push_back(row);
    }
  }
  return json_text(root);
}

}  // namespace huddle::cli

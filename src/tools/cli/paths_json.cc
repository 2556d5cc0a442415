// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <nlohmann/json.hpp>

#include "common/units.h"
#include "huddle/huddle.h"
#include "tools/cli/document_json.h"
#include "tools/cli/paths_report.h"

namespace huddle::cli {
namespace {

using nlohmann::ordered_json;

constexpr int paths_json_schema = 1;

}  // namespace

std::string paths_json(const Paths& paths) {
  ordered_json document = json_document(paths_json_schema, "paths");
  document["huddle"] = huddle_version();
  document["machine"] = paths.machine;
  document["machine_file"] = paths.machine_file;
  document["measured"] = paths.is_measured;
  document["ranks"] = paths.ranks;
  ordered_json points = ordered_json::array();
  for (const PathPoint& point : paths.points) {
    ordered_json ways = ordered_json::array();
    for (const Way& way : point.ways) {
      ways.push_back({{"path", way.name},
                      {"ns", way.ns},
                      {"gb_per_s", point.bytes / way.ns},
                      {"score", ns_per_s / way.ns}});
    }
    ordered_json ucx = ordered_json::array();
    for (const Taken& taken : point.ucx) {
      ucx.push_back({{"from_version", taken.from_version}, {"path", taken.way}, {"ns", taken.ns}});
    }
    points.push_back({{"bytes", point.bytes},
                      {"paths", std::move(ways)},
                      {"fastest", point.ways[point.fastest].name},
                      {"ucx", std::move(ucx)}});
  }
  document["points"] = std::move(points);
  return json_text(document);
}

}  // namespace huddle::cli

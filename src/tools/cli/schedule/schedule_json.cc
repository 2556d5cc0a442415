// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>

#include "tools/cli/document_json.h"
#include "tools/cli/schedule/schedule_report.h"

namespace huddle::cli {
namespace {

// Returns [first, count] of each interval.
Json intervals(const schedules::Blocks& blocks) {
  Json list = Json::array();
  schedules::for_each_interval(blocks, [&list](std::int64_t first, std::int64_t count) {
    list.push_back({first, count});
  });
  return list;
}

Json json_of(const ShownMessage& message) {
  return {{"from", message.from},
          {"to", message.to},
          {"out_of", buffer_name(message.source.buffer)},
          {"blocks", intervals(message.source.blocks)},
          {"into", buffer_name(message.target.buffer)},
          {"as_blocks", intervals(message.target.blocks)}};
}

Json json_of(const ShownWork& shown) {
  if (const auto* const copy = std::get_if<schedules::Copy>(&shown.work)) {
    return {{"rank", shown.rank},
            {"what", "copy"},
            {"out_of", buffer_name(copy->from.buffer)},
            {"blocks", intervals(copy->from.blocks)},
            {"into", buffer_name(copy->to.buffer)},
            {"as_blocks", intervals(copy->to.blocks)}};
  }
  const schedules::Combine& combine = std::get<schedules::Combine>(shown.work);
  return {{"rank", shown.rank},
          {"what", "join"},
          {"left", buffer_name(combine.left)},
          {"right", buffer_name(combine.right)},
          {"into", buffer_name(combine.result)},
          {"blocks", intervals(combine.blocks)}};
}

}  // namespace

std::string schedule_json(const ShownSchedule& shown) {
  Json root = {{"schema", schedule_json_schema}, {"command", "schedule"}};
  root["algorithm"] = shown.algorithm.full_name();
  root["ranks"] = shown.call.ranks;
  root["root"] = has_root(shown.algorithm.operation) ? Json(shown.call.root) : Json(nullptr);
  root["blocks"] = shown.blocks;
  root["in_one_association"] = shown.algorithm.order == schedules::Order::reduction_order;
  root["in_place"] = shown.algorithm.in_place;
  root["equal_blocks"] = shown.algorithm.equal_blocks;
  root["all_rounds"] = shown.all_rounds;
  root["rank"] = shown.rank ? Json(*shown.rank) : Json(nullptr);
  root["most"] = {{"rounds", shown.most.rounds},
                  {"sends", shown.most.sends},
                  {"blocks_sent", shown.most.blocks_sent},
                  {"receives", shown.most.receives},
                  {"blocks_received", shown.most.blocks_received}};
  root["rounds"] = Json::array();
  for (const ShownRound& round : shown.rounds) {
    Json entry = {{"number", round.number}, {"messages", Json::array()}, {"work", Json::array()}};
    for (const ShownMessage& message : round.messages)
      entry["messages"].push_back(json_of(message));
    for (const ShownWork& work : round.work) entry["work"].push_back(json_of(work));
    root["rounds"].push_back(entry);
  }
  return json_text(root);
}

namespace {

// Adds the number as decimal and as exact fraction.
void add(Json& row, const std::string& key, const std::optional<schedules::Fraction>& fraction) {
  row[key] = fraction ? Json(fraction->value()) : Json(nullptr);
  row[key + "_exact"] = fraction ? Json(fraction->text()) : Json(nullptr);
}

void add_travel(Json& row, const network::Outcome& travel) {
  row["by_switch_level"] = Json::array();
  for (const network::LevelTraffic& level : travel.by_height) {
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

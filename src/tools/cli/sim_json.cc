// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <nlohmann/json.hpp>

#include "tools/cli/machine_json.h"
#include "tools/cli/sim_report.h"

namespace huddle::cli {
namespace {

Json row_json(const SimulatedRow& simulated) {
  const sim::Outcome& outcome = simulated.outcome;
  Json row = {{"algorithm", simulated.algorithm},
              {"ns", outcome.end.ns},
              {"rounds", outcome.rounds},
              {"messages", outcome.messages},
              {"bytes", outcome.bytes}};
  row["judge_ns"] = simulated.judge_ns ? Json(*simulated.judge_ns) : Json(nullptr);
  row["fullest_link"] = outcome.fullest_link.empty() ? Json(nullptr)
                                                     : Json{{"name", outcome.fullest_link},
                                                            {"bytes", outcome.fullest_link_bytes}};
  for (std::size_t cause = 0; cause < sim::cause_names.size(); ++cause) {
    row["goes_into_ns"][std::string(sim::cause_names[cause])] = outcome.end.by_cause[cause];
  }
  row["by_switch_level"] = Json::array();
  for (const sim::LevelTraffic& level : outcome.by_height) {
    row["by_switch_level"].push_back({{"messages", level.messages}, {"bytes", level.bytes}});
  }
  return row;
}

}  // namespace

std::string sim_json(const Simulated& simulated) {
  const fabric::Cluster& cluster = simulated.cluster;
  Json root = {{"schema", sim_json_schema},        {"command", "sim"},
               {"operation", simulated.operation}, {"bytes", simulated.bytes},
               {"ranks", simulated.ranks},         {"placement", simulated.placement}};
  root["judge"] = simulated.judge.empty() ? Json(nullptr) : Json(simulated.judge);
  root["fabric"] = {{"file", cluster.path},
                    {"name", cluster.fabric.name},
                    {"nodes", cluster.fabric.nodes()},
                    {"machine", cluster.machine.name},
                    {"network", cluster.network.name},
                    {"doubts", cluster.fabric.doubts}};
  root["algorithms"] = Json::array();
  for (const SimulatedRow& row : simulated.rows) root["algorithms"].push_back(row_json(row));
  return json_text(root);
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>

#include "tools/cli/document_json.h"
#include "tools/cli/sim/sim_report.h"

namespace huddle::cli {
namespace {

Json row_json(const SimulatedRow& simulated) {
  const network::Outcome& outcome = simulated.outcome;
  Json row = {{"algorithm", simulated.algorithm},
              {"ns", outcome.end.ns},
              {"rounds", outcome.rounds},
              {"messages", outcome.messages},
              {"bytes", outcome.bytes}};
  row["judge_ns"] = simulated.judge_ns ? Json(*simulated.judge_ns) : Json(nullptr);
  row["fullest_link"] = outcome.fullest_link.empty() ? Json(nullptr)
                                                     : Json{{"name", outcome.fullest_link},
                                                            {"bytes", outcome.fullest_link_bytes}};
  for (std::size_t cause = 0; cause < network::cause_names.size(); ++cause) {
    row["goes_into_ns"][std::string(network::cause_names[cause])] = outcome.end.by_cause[cause];
  }
  row["by_switch_level"] = Json::array();
  for (const network::LevelTraffic& level : outcome.by_height) {
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

std::string node_sim_json(const NodeSimulated& simulated) {
  const protocols::model::Outcome& outcome = simulated.outcome;
  Json document = json_document(node_sim_json_schema, "sim");
  document["operation"] = select::name(simulated.request.operation);
  document["bytes"] = simulated.request.bytes;
  document["ranks"] = outcome.ns.size();
  document["root"] = simulated.root;
  document["machine"] = simulated.machine;
  document["processors"] = simulated.processors;
  document["algorithm"] = select::algorithm_name(simulated.candidate.plan);
  document["parameters"] = simulated.candidate.parameters;
  document["predicted_ns"] = simulated.candidate.ns;
  document["simulated_ns"] = outcome.all_ns();
  document["rank_ns"] = outcome.ns;
  document["lines_by_level"] = Json::object();
  for (std::size_t level = 0; level < outcome.levels.size(); ++level) {
    document["lines_by_level"][outcome.levels[level]] = outcome.lines_by_level[level];
  }
  document["resources"] = Json::array();
  for (const auto& resource : outcome.resources) {
    document["resources"].push_back({{"name", resource.name},
                                     {"is_controller", resource.is_controller},
                                     {"gb_per_s", resource.gb_per_s},
                                     {"bytes", resource.passed_bytes},
                                     {"busy", outcome.busy_share(resource)}});
  }
  const auto* busiest = outcome.busiest();
  document["busiest"] = busiest == nullptr ? Json(nullptr) : Json(busiest->name);
  document["not_derived"] = outcome.not_derived;
  return json_text(document);
}

std::string against_prices_json(const ModelComparison& compared) {
  Json document = json_document(node_sim_json_schema, "sim");
  document["machine"] = compared.machine;
  document["agreeing"] = compared.agreeing();
  document["left_out"] = compared.left_out;
  document["points"] = Json::array();
  for (const Compared& one : compared.points) {
    document["points"].push_back({{"operation", select::name(one.request.operation)},
                                  {"bytes", one.request.bytes},
                                  {"ranks", one.ranks},
                                  {"algorithm", one.algorithm},
                                  {"predicted_ns", one.price_ns},
                                  {"simulated_ns", one.simulated_ns}});
  }
  return json_text(document);
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <nlohmann/json.hpp>

#include "model/machine/calibration.h"
#include "tools/cli/document_json.h"
#include "tools/cli/machine_list.h"

namespace huddle::cli {
namespace {

Json entry(const ListedMachine& listed) {
  Json json = {{"name", listed.name}, {"machine_file", listed.path}};
  json["flaw"] = listed.machine ? Json(nullptr) : Json(listed.flaw);
  if (!listed.machine) return json;
  const machine::Topology& topology = listed.machine->topology;
  json["cpu_model"] = topology.cpu_model;
  json["fingerprint"] = fingerprint(topology);
  json["cores"] = core_count(topology);
  json["calibrated"] = calibrated(*listed.machine);
  json["calibration"] = machine::calibration_text(*listed.machine);
  return json;
}

}  // namespace

std::string machine_list_json(const std::vector<ListedMachine>& machines,
                              const std::string& command) {
  Json document = json_document(machine_list_json_schema, command);
  document["what"] = "machines";
  document["machines"] = Json::array();
  for (const ListedMachine& listed : machines) document["machines"].push_back(entry(listed));
  return json_text(document);
}

std::string fabric_list_json(const std::vector<ListedFabric>& fabrics) {
  Json document = json_document(machine_list_json_schema, "sim");
  document["what"] = "fabrics";
  document["fabrics"] = Json::array();
  for (const ListedFabric& listed : fabrics) {
    document["fabrics"].push_back({{"name", listed.name},
                                   {"fabric_file", listed.path},
                                   {"flaw", listed.nodes ? Json(nullptr) : Json(listed.flaw)},
                                   {"nodes", listed.nodes ? Json(*listed.nodes) : Json(nullptr)}});
  }
  return json_text(document);
}

}  // namespace huddle::cli

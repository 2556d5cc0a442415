// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/run_json.h"

#include <nlohmann/json.hpp>

#include "cli/document_json.h"

namespace huddle::cli {

std::string run_json(const launch::Plan& plan) {
  using Json = nlohmann::ordered_json;
  Json root = json_document(run_json_schema, "run");
  root["program"] = plan.program;
  root["launcher"] = plan.launcher ? Json(plan.launcher->path) : Json(nullptr);
  root["mpi"] = nullptr;
  if (plan.launcher && plan.launcher->version) {
    root["mpi"] = {{"family", plan.launcher->version->family},
                   {"version", plan.launcher->version->version}};
  }
  root["argv"] = plan.command;
  root["environment"] = Json::object();
  for (const launch::Variable& change : plan.changes) {
    root["environment"][change.name] = change.value;
  }
  root["notes"] = plan.notes;
  return json_text(root);
}

}  // namespace huddle::cli

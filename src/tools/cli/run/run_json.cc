// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>

#include "tools/cli/document_json.h"
#include "tools/cli/run/run_compare.h"

namespace huddle::cli {
namespace {

Json side_json(const bench::SideRuns& side) {
  return {{"argv", side.command.words},
          {"wall_seconds", side.wall_seconds},
          {"cpu_seconds", side.cpu_seconds}};
}

}  // namespace

std::string run_json(const launch::Plan& plan) {
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

std::string compared_json(const bench::WholeRuns& runs, const std::string& taken) {
  const bench::Estimate speedup = runs.speedup();
  Json root = json_document(run_json_schema, "run --compare");
  root["native"] = side_json(runs.of(bench::Side::native));
  root["huddle"] = side_json(runs.of(bench::Side::huddle));
  root["speedup"] = {{"ratio", speedup.ratio},
                     {"low", speedup.low},
                     {"high", speedup.high},
                     {"confidence", bench::confidence},
                     {"enough_runs", speedup.sure}};
  root["taken"] = taken;
  root["interrupted"] = runs.interrupted;
  return json_text(root);
}

}  // namespace huddle::cli

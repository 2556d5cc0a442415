// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/run_json.h"

#include <nlohmann/json.hpp>

namespace huddle::cli {
namespace {

using Json = nlohmann::ordered_json;

// Words of a command need not be UTF-8; JSON has to be.
std::string dumped(const Json& root) {
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json side_json(const versus::SideRuns& side) {
  return {{"argv", side.command.words},
          {"wall_seconds", side.wall_seconds},
          {"cpu_seconds", side.cpu_seconds}};
}

}  // namespace

std::string run_json(const launch::Plan& plan) {
  Json root = {{"schema", run_json_schema}, {"command", "run"}};
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
  return dumped(root);
}

std::string compared_json(const versus::WholeRuns& runs, const std::string& taken) {
  const versus::Estimate speedup = runs.speedup();
  Json root = {{"schema", run_json_schema}, {"command", "run --compare"}};
  root["native"] = side_json(runs.of(versus::Side::native));
  root["huddle"] = side_json(runs.of(versus::Side::huddle));
  root["speedup"] = {{"ratio", speedup.ratio},
                     {"low", speedup.low},
                     {"high", speedup.high},
                     {"confidence", versus::confidence},
                     {"enough_runs", speedup.sure}};
  root["taken"] = taken;
  root["interrupted"] = runs.interrupted;
  return dumped(root);
}

}  // namespace huddle::cli

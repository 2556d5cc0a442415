// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>

#include "tools/bench/network/result_lines.h"
#include "tools/cli/calibrate/calibrate_report.h"
#include "tools/cli/document_json.h"

namespace huddle::cli {
namespace {

using nlohmann::ordered_json;

ordered_json header(const std::string& what) {
  ordered_json document = json_document(calibrate_json_schema, "calibrate");
  document["what"] = what;
  return document;
}

}  // namespace

std::string plan_json(const calibrate::Plan& plan) {
  ordered_json root = header("plan");
  root["quick"] = plan.quick;
  root["pus"] = plan.pus;
  root["expected_seconds"] = plan.expected_seconds();
  root["limit_seconds"] = plan.limit_seconds();
  root["notes"] = plan.notes;
  root["steps"] = ordered_json::array();
  for (const auto& step : plan.steps) {
    root["steps"].push_back({{"name", step.name},
                             {"measurements", step.seconds.size()},
                             {"expected_seconds", step.expected_seconds()},
                             {"limit_seconds", step.limit_seconds}});
  }
  return json_text(root);
}

std::string outcome_json(const calibrate::Outcome& outcome, const std::string& file) {
  ordered_json root = header("result");
  root["machine_file"] = file;
  root["seconds"] = outcome.seconds;
  root["measurements"] = outcome.measurements;
  root["notes"] = outcome.notes;
  add_machine(root, outcome.machine);
  return json_text(root);
}

std::string network_plan_json(const std::vector<std::string>& steps,
                              const std::vector<std::string>& words, bool quick) {
  ordered_json root = header("network plan");
  root["quick"] = quick;
  root["steps"] = steps;
  root["message_bytes"] = bench::network::message_bytes;
  if (quick) {
    root["call_bytes"] = bench::network::quick_call_bytes;
  } else {
    root["call_bytes"] = bench::network::call_bytes;
  }
  root["words"] = words;
  return json_text(root);
}

std::string network_json(const machine::Machine& machine, const std::string& file) {
  ordered_json root = header("network");
  root["machine_file"] = file;
  add_machine(root, machine);
  return json_text(root);
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/calibrate_json.h"

#include <nlohmann/json.hpp>

#include "machine/machine.h"

namespace huddle::cli {
namespace {

using nlohmann::ordered_json;

std::string origin_text(machine::Origin origin) {
  return std::string(machine::origin_names[static_cast<std::size_t>(origin)]);
}

ordered_json header(const std::string& what) {
  return {{"schema", calibrate_json_schema}, {"command", "calibrate"}, {"what", what}};
}

void add_curve(ordered_json& entry, const machine::Curve& curve) {
  entry["bytes"] = curve.bytes;
  entry["ns"] = curve.ns;
  entry["spread"] = curve.spread;
}

ordered_json lines_json(const machine::Machine& machine) {
  ordered_json list = ordered_json::array();
  for (const auto& cost : machine.line) {
    list.push_back({{"level", cost.level},
                    {"origin", origin_text(cost.origin)},
                    {"steps_origin", origin_text(cost.steps_origin)},
                    {"one_way_ns", cost.one_way_ns},
                    {"shared_ns", cost.shared_ns},
                    {"reader_step_ns", cost.reader_step_ns},
                    {"writer_step_ns", cost.writer_step_ns},
                    {"spread", cost.spread}});
  }
  return list;
}

ordered_json copies_json(const machine::Machine& machine) {
  ordered_json list = ordered_json::array();
  for (const auto& copy : machine.copy) {
    ordered_json entry = {
        {"level", copy.level}, {"copiers", copy.copiers}, {"origin", origin_text(copy.origin)}};
    add_curve(entry, copy.curve);
    list.push_back(entry);
  }
  return list;
}

ordered_json handoffs_json(const machine::Machine& machine) {
  ordered_json list = ordered_json::array();
  for (const auto& handoff : machine.handoff) {
    ordered_json entry = {{"level", handoff.level},
                          {"kind", machine::handoff_names[static_cast<std::size_t>(handoff.kind)]},
                          {"origin", origin_text(handoff.origin)}};
    add_curve(entry, handoff.curve);
    list.push_back(entry);
  }
  return list;
}

ordered_json paths_json(const machine::Machine& machine) {
  ordered_json list = ordered_json::array();
  for (const auto& path : machine.paths) {
    ordered_json entry = {
        {"path", path.path}, {"copiers", path.copiers}, {"origin", origin_text(path.origin)}};
    add_curve(entry, path.curve);
    list.push_back(entry);
  }
  return list;
}

ordered_json memory_json(const machine::Machine& machine) {
  ordered_json list = ordered_json::array();
  for (const auto& cost : machine.memory) {
    list.push_back({{"level", cost.level},
                    {"origin", origin_text(cost.origin)},
                    {"load_ns", cost.load_ns},
                    {"copy_factor", cost.copy_factor}});
  }
  return list;
}

ordered_json system_json(const machine::Machine& machine) {
  ordered_json list = ordered_json::array();
  for (const auto& cost : machine.system) {
    list.push_back({{"call", machine::system_call_names[static_cast<std::size_t>(cost.call)]},
                    {"origin", origin_text(cost.origin)},
                    {"ns", cost.ns},
                    {"spread", cost.spread}});
  }
  return list;
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
  return root.dump(2) + "\n";
}

std::string outcome_json(const calibrate::Outcome& outcome, const std::string& file) {
  const machine::Machine& machine = outcome.machine;
  ordered_json root = header("result");
  root["file"] = file;
  root["machine"] = machine.name;
  root["seconds"] = outcome.seconds;
  root["measurements"] = outcome.measurements;
  root["notes"] = outcome.notes;
  root["doubts"] = ordered_json::array();
  for (const auto& doubt : machine.doubts) {
    root["doubts"].push_back({{"what", doubt.what}, {"why", doubt.why}});
  }
  root["line"] = lines_json(machine);
  root["copy"] = copies_json(machine);
  root["handoff"] = handoffs_json(machine);
  root["memory"] = memory_json(machine);
  root["paths"] = paths_json(machine);
  root["system"] = system_json(machine);
  return root.dump(2) + "\n";
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/topo_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "picture/facts.h"

namespace huddle::cli {
namespace {

// Keeps the order in which things are written here.
using Json = nlohmann::ordered_json;
using machine::CpuSet;
using machine::Machine;
using machine::Topology;

// Sets are lists of numbers: every language can read those.
Json numbers(const CpuSet& set) { return Json(set.cpus()); }

Json levels_json(const Topology& topology) {
  Json levels = Json::array();
  for (const machine::Level& level : topology.levels) {
    Json groups = Json::array();
    for (const CpuSet& group : level.groups) groups.push_back(numbers(group));
    Json entry = {{"name", level.name}, {"groups", groups}};
    if (!level.bytes.empty()) entry["bytes"] = level.bytes;
    levels.push_back(entry);
  }
  return levels;
}

Json numa_json(const Topology& topology) {
  Json nodes = Json::array();
  for (const machine::NumaNode& node : topology.numa) {
    nodes.push_back({{"number", node.number},
                     {"processors", numbers(node.cpus)},
                     {"bytes", node.bytes},
                     {"memory_only", node.memory_only},
                     {"kind", node.kind}});
  }
  return nodes;
}

Json kinds_json(const Topology& topology) {
  Json kinds = Json::array();
  for (const machine::CoreKind& kind : topology.kinds) {
    kinds.push_back(
        {{"name", kind.name}, {"efficiency", kind.efficiency}, {"processors", numbers(kind.cpus)}});
  }
  return kinds;
}

Json topology_json(const Topology& topology) {
  return {{"processors", numbers(topology.pus)}, {"offline", numbers(topology.offline)},
          {"cores", core_count(topology)},       {"levels", levels_json(topology)},
          {"numa", numa_json(topology)},         {"numa_distances", topology.numa_distances},
          {"kinds", kinds_json(topology)}};
}

Json line_json(const Machine& machine) {
  Json lines = Json::array();
  for (const machine::LineCost& line : machine.line) {
    lines.push_back(
        {{"level", line.level},
         {"one_way_ns", line.one_way_ns},
         {"shared_ns", line.shared_ns},
         {"reader_step_ns", line.reader_step_ns},
         {"writer_step_ns", line.writer_step_ns},
         {"spread", line.spread},
         {"origin", machine::origin_names[static_cast<std::size_t>(line.origin)]},
         {"steps_origin", machine::origin_names[static_cast<std::size_t>(line.steps_origin)]}});
  }
  return lines;
}

Json pairs_json(const Machine& machine) {
  if (!machine.pairs) return nullptr;
  const std::size_t size = machine.pairs->pus.size();
  Json rows = Json::array();
  for (std::size_t row = 0; row < size; ++row) {
    const auto begin = machine.pairs->one_way_ns.begin() + static_cast<std::ptrdiff_t>(row * size);
    rows.push_back(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(size)));
  }
  return {{"processors", machine.pairs->pus},
          {"one_way_ns", rows},
          {"sampling", machine.pairs->sampling}};
}

Json doubts_json(const Machine& machine) {
  Json doubts = Json::array();
  for (const machine::Doubt& doubt : machine.doubts) {
    doubts.push_back({{"what", doubt.what}, {"why", doubt.why}});
  }
  return doubts;
}

}  // namespace

std::string topo_json(const picture::Subject& subject) {
  const Machine& machine = subject.machine;
  const Json document = {
      {"schema", topo_json_schema},
      {"name", machine.name},
      {"cpu_model", machine.topology.cpu_model},
      {"fingerprint", fingerprint(machine.topology)},
      {"calibrated", calibrated(machine)},
      {"machine_file", subject.path.empty() ? Json(nullptr) : Json(subject.path)},
      {"allowed", subject.allowed ? numbers(*subject.allowed) : Json(nullptr)},
      {"topology", topology_json(machine.topology)},
      {"line", line_json(machine)},
      {"pairs", pairs_json(machine)},
      {"differences", picture::latency_differences(machine)},
      {"doubts", doubts_json(machine)}};
  // A model name in a foreign encoding must not stop the output.
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace huddle::cli

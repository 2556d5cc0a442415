// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/document_json.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "model/machine/machine.h"
#include "tools/cli/machine_list.h"

namespace huddle::cli {

Json json_document(int schema, std::string_view command) {
  return {{"schema", schema}, {"command", command}};
}

std::string json_text(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

using machine::CpuSet;
using machine::Machine;
using machine::Topology;

std::string_view origin_text(machine::Origin origin) {
  return machine::origin_names[static_cast<std::size_t>(origin)];
}

// Sets are lists of numbers, which every language can read.
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
                     {"cpus", numbers(node.cpus)},
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
        {{"name", kind.name}, {"efficiency", kind.efficiency}, {"cpus", numbers(kind.cpus)}});
  }
  return kinds;
}

Json topology_json(const Topology& topology) {
  return {{"pus", numbers(topology.pus)},  {"offline", numbers(topology.offline)},
          {"cores", core_count(topology)}, {"levels", levels_json(topology)},
          {"numa", numa_json(topology)},   {"numa_distances", topology.numa_distances},
          {"kinds", kinds_json(topology)}};
}

Json pairs_json(const Machine& machine) {
  if (!machine.pairs) return nullptr;
  const std::size_t size = machine.pairs->pus.size();
  Json rows = Json::array();
  for (std::size_t row = 0; row < size; ++row) {
    const auto begin = machine.pairs->one_way_ns.begin() + static_cast<std::ptrdiff_t>(row * size);
    rows.push_back(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(size)));
  }
  return {{"pus", machine.pairs->pus}, {"one_way_ns", rows}, {"sampling", machine.pairs->sampling}};
}

Json doubts_json(const Machine& machine) {
  Json doubts = Json::array();
  for (const machine::Doubt& doubt : machine.doubts) {
    doubts.push_back({{"what", doubt.what}, {"why", doubt.why}});
  }
  return doubts;
}

void add_curve(Json& entry, const machine::Curve& curve) {
  entry["bytes"] = curve.bytes;
  entry["ns"] = curve.ns;
  entry["spread"] = curve.spread;
}

Json lines_json(const Machine& machine) {
  Json list = Json::array();
  for (const auto& cost : machine.line) {
    list.push_back({{"level", cost.level},
                    {"origin", origin_text(cost.origin)},
                    {"shared_origin", origin_text(cost.shared_origin.value_or(cost.origin))},
                    {"steps_origin", origin_text(cost.steps_origin)},
                    {"one_way_ns", cost.one_way_ns},
                    {"shared_ns", cost.shared_ns},
                    {"reader_step_ns", cost.reader_step_ns},
                    {"writer_step_ns", cost.writer_step_ns},
                    {"spread", cost.spread}});
  }
  return list;
}

Json copies_json(const Machine& machine) {
  Json list = Json::array();
  for (const auto& copy : machine.copy) {
    Json entry = {
        {"level", copy.level}, {"copiers", copy.copiers}, {"origin", origin_text(copy.origin)}};
    add_curve(entry, copy.curve);
    list.push_back(entry);
  }
  return list;
}

Json handoffs_json(const Machine& machine) {
  Json list = Json::array();
  for (const auto& handoff : machine.handoff) {
    Json entry = {{"level", handoff.level},
                  {"kind", machine::handoff_names[static_cast<std::size_t>(handoff.kind)]},
                  {"origin", origin_text(handoff.origin)}};
    add_curve(entry, handoff.curve);
    list.push_back(entry);
  }
  return list;
}

Json paths_json(const Machine& machine) {
  Json list = Json::array();
  for (const auto& path : machine.paths) {
    Json entry = {
        {"path", path.path}, {"copiers", path.copiers}, {"origin", origin_text(path.origin)}};
    if (!path.level.empty()) entry["level"] = path.level;
    add_curve(entry, path.curve);
    list.push_back(entry);
  }
  return list;
}

Json memory_json(const Machine& machine) {
  Json list = Json::array();
  for (const auto& cost : machine.memory) {
    list.push_back({{"level", cost.level},
                    {"origin", origin_text(cost.origin)},
                    {"load_ns", cost.load_ns},
                    {"copy_factor", cost.copy_factor}});
  }
  return list;
}

Json system_json(const Machine& machine) {
  Json list = Json::array();
  for (const auto& cost : machine.system) {
    list.push_back({{"call", machine::system_call_names[static_cast<std::size_t>(cost.call)]},
                    {"origin", origin_text(cost.origin)},
                    {"ns", cost.ns},
                    {"spread", cost.spread}});
  }
  return list;
}

Json arrays_json(const Machine& machine) {
  Json list = Json::array();
  for (const auto& cost : machine.arrays) {
    list.push_back({{"place", machine::array_place_names[static_cast<std::size_t>(cost.place)]},
                    {"origin", origin_text(cost.origin)},
                    {"load_ns", cost.load_ns},
                    {"stream_ns", cost.stream_ns},
                    {"spread", cost.spread}});
  }
  return list;
}

Json networks_json(const Machine& machine) {
  Json list = Json::array();
  for (const auto& network : machine.networks) {
    Json entry = {{"name", network.name},
                  {"rails", network.rails},
                  {"gap_ns", network.gap_ns},
                  {"node_gb_per_s", network.node_gb_per_s},
                  {"cpu_ns", network.cpu_ns},
                  {"rendezvous_bytes",
                   network.rendezvous_bytes ? Json(*network.rendezvous_bytes) : Json(nullptr)},
                  {"both_ways", network.both_ways ? Json(*network.both_ways) : Json(nullptr)},
                  {"piece_bytes", network.piece_bytes ? Json(*network.piece_bytes) : Json(nullptr)},
                  {"origin", origin_text(network.origin)}};
    add_curve(entry, network.curve);
    list.push_back(entry);
  }
  return list;
}

Json mpi_collectives_json(const Machine& machine) {
  Json list = Json::array();
  for (const auto& collective : machine.mpi_collectives) {
    Json entry = {{"mpi", collective.mpi},           {"operation", collective.operation},
                  {"hosts", collective.hosts},       {"ranks", collective.ranks},
                  {"in_order", collective.in_order}, {"origin", origin_text(collective.origin)}};
    add_curve(entry, collective.curve);
    list.push_back(entry);
  }
  return list;
}

}  // namespace

Json time_json(const mapping::PredictedTime& time, bool knows_memory) {
  return {{"communication_ns", time.communication_ns},
          {"memory_ns", knows_memory ? Json(time.memory_ns) : Json()},
          {"ns", time.ns()}};
}

void add_machine(Json& document, const Machine& machine) {
  document["name"] = machine.name;
  document["cpu_model"] = machine.topology.cpu_model;
  document["fingerprint"] = fingerprint(machine.topology);
  document["calibrated"] = calibrated(machine);
  document["calibration"] = machine::calibration_text(machine);
  document["topology"] = topology_json(machine.topology);
  document["line"] = lines_json(machine);
  document["pairs"] = pairs_json(machine);
  document["copy"] = copies_json(machine);
  document["handoff"] = handoffs_json(machine);
  document["memory"] = memory_json(machine);
  document["paths"] = paths_json(machine);
  document["system"] = system_json(machine);
  document["arrays"] = arrays_json(machine);
  document["networks"] = networks_json(machine);
  document["mpi_collectives"] = mpi_collectives_json(machine);
  document["doubts"] = doubts_json(machine);
}

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

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/bench_mpi.h"

#include <nlohmann/json.hpp>

#include "huddle/huddle.h"
#include "tools/cli/machine_json.h"
#include "tools/cli/prediction_error_json.h"

namespace huddle::cli {
namespace {

using nlohmann::ordered_json;

ordered_json estimate_json(const bench::Estimate& estimate) {
  return {{"ratio", estimate.ratio},
          {"low", estimate.low},
          {"high", estimate.high},
          {"batches", estimate.batches}};
}

ordered_json mpis_json(const bench::MpiReport& measured) {
  ordered_json all = ordered_json::array();
  for (std::size_t i = 0; i < measured.mpis.size(); ++i) {
    all.push_back({{"name", measured.mpis[i].name}, {"version", measured.versions[i]}});
  }
  return all;
}

ordered_json candidate_json(const bench::Choice& choice) {
  return {{"algorithm", choice.algorithm},
          {"parameters", choice.parameters},
          {"predicted_ns", choice.predicted_ns}};
}

ordered_json choice_json(const std::vector<bench::Choice>& choices) {
  ordered_json json = candidate_json(choices.front());
  json["others"] = ordered_json::array();
  for (std::size_t i = 1; i < choices.size(); ++i) {
    json["others"].push_back(candidate_json(choices[i]));
  }
  return json;
}

ordered_json point_json(const bench::PointResult& one) {
  ordered_json json = {{"operation", name(one.point.operation)},
                       {"bytes", one.point.bytes},
                       {"calls_in_a_stretch", one.calls},
                       {"rival", one.rival},
                       {"native_ns", one.native_ns},
                       {"huddle_ns", one.huddle_ns},
                       {"estimate", estimate_json(one.estimate)},
                       {"stable", one.stable},
                       {"passed_calls", one.passed},
                       {"below_bar", one.below_bar()},
                       {"again", ordered_json::array()}};
  for (const auto& again : one.again) json["again"].push_back(estimate_json(again));
  if (!one.choices.empty()) json["choice"] = choice_json(one.choices);
  if (const auto off = times_off(one)) json["times_off"] = *off;
  if (!one.selection_ns.empty()) json["selection_ns"] = one.selection_ns;
  json["native_batches_ns"] = one.samples.native_ns;
  json["huddle_batches_ns"] = one.samples.huddle_ns;
  return json;
}

}  // namespace

std::string bench_mpi_json(const MpiBenchReport& report) {
  const bench::MpiReport& measured = report.measured;
  ordered_json root = {{"schema", bench_mpi_json_schema},
                       {"command", "bench"},
                       {"what", "mpi"},
                       {"huddle", huddle_version()},
                       {"machine", report.machine.name},
                       {"fingerprint", fingerprint(report.machine.topology)},
                       {"machine_file", report.machine_file},
                       {"calibrated", calibrated(report.machine)},
                       {"mpis", mpis_json(measured)},
                       {"under", measured.mpis[measured.under].name},
                       {"ranks", report.ranks},
                       {"crowded", measured.crowded},
                       {"settings",
                        {{"heap", report.in_heap},
                         {"ops", report.ops},
                         {"sizes", report.sizes},
                         {"quick", report.quick},
                         {"timing", name(report.timing)},
                         {"point_seconds", report.effort.point_seconds},
                         {"half_width", report.effort.half_width},
                         {"confidence", bench::confidence},
                         {"bar", bench::least_ratio}}},
                       {"interrupted", measured.interrupted},
                       {"notes", measured.notes},
                       {"points", ordered_json::array()}};
  for (std::size_t i = 0; i < measured.results.size(); ++i) {
    ordered_json point = point_json(measured.results[i]);
    if (i < report.floor_ns.size()) point["floor_ns"] = report.floor_ns[i];
    root["points"].push_back(point);
  }
  ordered_json& settings = root["settings"];
  if (report.seconds > 0) settings["seconds"] = report.seconds;
  if (report.timing == bench::Timing::cold) settings["cold_calls"] = report.cold_calls;
  if (!report.mpi.empty()) settings["mpi"] = report.mpi;
  if (!report.mpi_library.empty()) settings["mpi_library"] = report.mpi_library;
  if (!report.peers.empty()) settings["peers"] = report.peers;
  add_prediction_error(root, report.prediction_error());
  add_machine(root["machine_model"], report.machine);
  return json_text(root);
}

}  // namespace huddle::cli

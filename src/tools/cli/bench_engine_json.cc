// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/bench_engine.h"

#include <nlohmann/json.hpp>

#include "huddle/huddle.h"
#include "tools/calibrate/statistics.h"
#include "tools/cli/machine_json.h"
#include "tools/cli/prediction_error_json.h"

namespace huddle::cli {
namespace {

using nlohmann::ordered_json;

ordered_json entry_json(const bench::EntryResult& entry) {
  ordered_json one = {{"name", entry.name},
                      {"bare", entry.bare},
                      {"how", entry.how},
                      {"calls", entry.calls},
                      {"stretches", entry.stretches}};
  if (entry.predicted_ns) one["predicted_ns"] = *entry.predicted_ns;
  if (!entry.ns.empty()) {
    const calibrate::Summary summary = calibrate::summarize(entry.ns);
    one["median_ns"] = summary.median;
    one["spread"] = summary.spread;
    if (entry.predicted_ns) one["times_off"] = times_off(*entry.predicted_ns, summary.median);
  }
  one["ns"] = entry.ns;
  return one;
}

ordered_json verdict_json(const bench::Verdict& verdict) {
  const bool of_rates = verdict.bar.kind == bench::Bar::Kind::rate_at_least;
  ordered_json one = {{"what", verdict.what},
                      {"subject", verdict.subject},
                      {"rival", verdict.rival},
                      {"of", of_rates ? "rate" : "time"},
                      {of_rates ? "at_least" : "at_most", verdict.bar.limit}};
  if (of_rates) {
    one["subject_bytes"] = verdict.subject_bytes;
    one["rival_bytes"] = verdict.rival_bytes;
  }
  one["ratio"] = verdict.median;
  one["spread"] = verdict.spread;
  one["ratios"] = verdict.ratios;
  one["holds"] = verdict.holds;
  return one;
}

ordered_json result_json(const bench::Result& result) {
  ordered_json one = {{"name", result.name},
                      {"ranks", result.binding.ranks},
                      {"pus", result.binding.pus},
                      {"crowded", result.binding.crowded()},
                      {"bytes", result.bytes},
                      {"rounds", result.rounds},
                      {"switched_away", result.switched_away},
                      {"entries", ordered_json::array()},
                      {"verdicts", ordered_json::array()}};
  for (const auto& entry : result.entries) one["entries"].push_back(entry_json(entry));
  for (const auto& verdict : result.verdicts) one["verdicts"].push_back(verdict_json(verdict));
  return one;
}

}  // namespace

std::string bench_json(const EngineBenchReport& report) {
  ordered_json root = {{"schema", bench_json_schema},
                       {"command", "bench"},
                       {"what", "engine"},
                       {"huddle", huddle_version()},
                       {"machine", report.machine.name},
                       {"fingerprint", fingerprint(report.machine.topology)},
                       {"machine_file", report.machine_file},
                       {"calibrated", calibrated(report.machine)},
                       {"quick", report.quick},
                       {"rounds", report.rounds},
                       {"interrupted", report.interrupted},
                       {"all_hold", report.all_hold()},
                       {"notes", report.notes},
                       {"contests", ordered_json::array()}};
  for (const auto& result : report.results) root["contests"].push_back(result_json(result));
  add_prediction_error(root, report.prediction_error());
  return json_text(root);
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/bench/bench_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "huddle/huddle.h"
#include "tools/calibrate/statistics.h"
#include "tools/cli/bench/bench_report.h"
#include "tools/cli/document_json.h"

namespace huddle::cli {

void add_prediction_error(nlohmann::ordered_json& document, const PredictionError& error) {
  if (error.points == 0) return;
  document["model_error"] = {{"points", error.points},
                             {"median_times_off", error.median_times_off},
                             {"mispredicted", error.mispredicted},
                             {"mispredicted_from", mispredicted_from}};
}

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
                      {"oversubscribed", result.binding.oversubscribed()},
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

ordered_json estimate_json(const bench::Estimate& estimate) {
  return {{"ratio", estimate.ratio},
          {"low", estimate.low},
          {"high", estimate.high},
          {"batches", estimate.batches}};
}

namespace {

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
                       {"oversubscribed", measured.oversubscribed},
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

namespace {

ordered_json cell_json(std::size_t bytes, const bench::Cell& cell) {
  ordered_json one = {{"bytes", bytes},
                      {"parameters", cell.best.parameters},
                      {"chosen", cell.chosen},
                      {"predicted_ns", cell.best.ns}};
  if (cell.simulated_ns) one["simulated_ns"] = *cell.simulated_ns;
  if (!cell.ns.empty()) {
    const calibrate::Summary summary = calibrate::summarize(cell.ns);
    one["median_ns"] = summary.median;
    one["times_off"] = times_off(cell.best.ns, summary.median);
    if (cell.simulated_ns) {
      one["simulation_times_off"] = times_off(*cell.simulated_ns, summary.median);
    }
    one["spread"] = summary.spread;
  }
  one["ns"] = cell.ns;
  return one;
}

ordered_json row_json(const std::vector<std::size_t>& bytes, const bench::AlgorithmRow& row) {
  ordered_json points = ordered_json::array();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (row.cells[i]) points.push_back(cell_json(bytes[i], *row.cells[i]));
  }
  return {{"algorithm", row.algorithm}, {"needs", row.needs}, {"points", points}};
}

ordered_json table_json(const bench::OperationTable& table) {
  ordered_json one = {{"operation", name(table.operation)},
                      {"relatives", ordered_json::array()},
                      {"algorithms", ordered_json::array()}};
  for (const auto& [operation, algorithms] : table.relatives) {
    one["relatives"].push_back({{"operation", name(operation)}, {"algorithms", algorithms}});
  }
  for (const auto& row : table.rows) one["algorithms"].push_back(row_json(table.bytes, row));
  return one;
}

}  // namespace

std::string bench_table_json(const BenchTableReport& report) {
  ordered_json root = {{"schema", bench_json_schema},
                       {"command", "bench"},
                       {"what", "table"},
                       {"huddle", huddle_version()},
                       {"machine", report.machine.name},
                       {"fingerprint", fingerprint(report.machine.topology)},
                       {"machine_file", report.machine_file},
                       {"calibrated", calibrated(report.machine)},
                       {"ranks", report.binding.ranks},
                       {"pus", report.binding.pus},
                       {"oversubscribed", report.binding.oversubscribed()},
                       {"dry_run", report.dry_run},
                       {"quick", report.quick},
                       {"rounds", report.rounds},
                       {"interrupted", report.interrupted},
                       {"notes", report.notes},
                       {"operations", ordered_json::array()}};
  for (const auto& table : report.tables) root["operations"].push_back(table_json(table));
  add_prediction_error(root, report.prediction_error());
  const PredictionError simulation = report.simulation_error();
  if (simulation.points > 0) {
    root["simulation_error"] = {{"points", simulation.points},
                                {"median_times_off", simulation.median_times_off}};
  }
  const BenchTableReport::Choices choices = report.choices();
  if (choices.points > 0) {
    root["choices"] = {{"points", choices.points}, {"near_best", choices.near_best}};
  }
  return json_text(root);
}

namespace {

using SortedJson = nlohmann::json;

SortedJson parsed(const std::string& path) {
  const std::string text = read_text(path);
  if (text.find_first_not_of(" \n") == std::string::npos) {
    throw InputError(path + ": the file is empty; was the benchmark interrupted?");
  }
  try {
    return SortedJson::parse(text);
  } catch (const SortedJson::parse_error& error) {
    throw InputError(fmt::format("{}: invalid or incomplete JSON at byte {}", path, error.byte));
  }
}

void refuse_others(const SortedJson& document, const std::string& path) {
  const auto is = [&document](const char* key, const SortedJson& value) {
    return document.is_object() && document.contains(key) && document[key] == value;
  };
  if (!is("command", "bench") || !is("what", "mpi")) {
    throw InputError(path + ": this is not a result of 'huddle bench --json FILE'");
  }
  if (!is("schema", bench_mpi_json_schema)) {
    throw InputError(
        fmt::format("{}: its schema is not {}, the only one that this version of huddle reads",
                    path, bench_mpi_json_schema));
  }
}

// Throws InputError for an estimate that cannot be compared.
bench::Estimate estimate_from(const SortedJson& json) {
  const bench::Estimate estimate{json.at("ratio").get<double>(), json.at("low").get<double>(),
                                 json.at("high").get<double>(),
                                 json.at("batches").get<std::size_t>()};
  if (!(estimate.low > 0 && estimate.low <= estimate.ratio && estimate.ratio <= estimate.high)) {
    throw InputError("the ratio of an estimate is not between low and high");
  }
  return estimate;
}

MeasuredPoint point_from(const SortedJson& json) {
  return {json.at("operation").get<std::string>(), json.at("bytes").get<std::size_t>(),
          json.at("rival").get<std::string>(), json.at("huddle_ns").get<double>(),
          estimate_from(json.at("estimate"))};
}

MeasuredRun run_from(const SortedJson& document, const std::string& path) {
  MeasuredRun run{
      path,
      document.at("machine").get<std::string>(),
      document.at("huddle").get<std::string>(),
      document.at("under").get<std::string>(),
      document.at("ranks").get<int>(),
      document.value(SortedJson::json_pointer("/settings/timing"), MeasuredRun().timing),
      {},
      {}};
  for (const SortedJson& mpi : document.at("mpis"))
    run.mpis.push_back(mpi.at("name").get<std::string>());
  for (const SortedJson& point : document.at("points")) run.points.push_back(point_from(point));
  return run;
}

}  // namespace

MeasuredRun read_measured_run(const std::string& path) {
  const SortedJson document = parsed(path);
  refuse_others(document, path);
  try {
    return run_from(document, path);
  } catch (const SortedJson::exception& error) {
    throw InputError(
        fmt::format("{}: a value is missing or has the wrong type: {}", path, error.what()));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace huddle::cli

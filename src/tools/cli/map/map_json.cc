// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>
#include <optional>

#include "tools/cli/document_json.h"
#include "tools/cli/map/map_report.h"
#include "tools/picture/facts.h"

namespace huddle::cli {
namespace {

Json number_or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

Json quality_json(const mapping::Quality& quality, const mapping::MappingProblem& problem) {
  const mapping::SlotTree& tree = problem.tree;
  Json levels = Json::array();
  for (std::size_t level = 0; level < tree.levels().size(); ++level) {
    levels.push_back({{"level", tree.levels()[level].name},
                      {"ns", tree.levels()[level].ns},
                      {"share", quality.share_of_level[level]},
                      {"largest_load", quality.largest_load[level]}});
  }
  return {{"predicted", time_json(quality.time, problem.memory != nullptr)},
          {"hop_bytes", quality.hop_bytes},
          {"accuracy", quality.accuracy},
          {"levels", std::move(levels)},
          {"moved", quality.moved}};
}

Json seats_json(const mapping::Mapping& mapping, const mapping::SlotTree& tree) {
  Json constraints = Json::array();
  for (std::size_t element = 0; element < mapping.size(); ++element) {
    const mapping::Slot& slot = tree.slots()[static_cast<std::size_t>(mapping[element])];
    constraints.push_back({{"element", element}, {"node", slot.node}, {"processor", slot.pu}});
  }
  return constraints;
}

Json document_of(const MapReport& subject) {
  Json document = {{"schema", map_json_schema}, {"command", "map"}};
  document["matrix"] = {{"file", subject.path},
                        {"kind", mapping::element_word(subject.matrix.kind)},
                        {"n", subject.matrix.size()},
                        {"pairs", subject.matrix.graph.edges()},
                        {"bytes", total_bytes(subject.matrix.graph)}};
  if (subject.matrix.memory) {
    document["matrix"]["memory"] = {{"seconds", subject.matrix.memory->seconds},
                                    {"bytes", subject.matrix.memory->bytes}};
  }
  if (subject.matrix.events) {
    document["matrix"]["events"] = {{"total", subject.matrix.events->total()},
                                    {"dispersion", subject.matrix.events->dispersion},
                                    {"evidence", name_of(finding_of(subject))},
                                    {"confidence", mapping::EvidenceLimits().confidence()}};
  }
  document["machine"] = subject.machine;
  document["nodes"] = subject.problem.tree.nodes();
  document["hosts"] = subject.hosts;
  document["slots"] = subject.problem.tree.size();
  document["notes"] = subject.notes;
  document["least_gain"] = subject.least_gain;
  document["bandwidth_gb_per_s"] = {{"before", number_or_null(subject.bandwidth.before)},
                                    {"balanced", number_or_null(subject.bandwidth.balanced)},
                                    {"all_cores", number_or_null(subject.bandwidth.all)}};
  document["before"] = quality_json(subject.before, subject.problem);
  return document;
}

Json placed_json(const MapReport& subject, const MethodResult& placed) {
  const MapDecision verdict = decision_for(subject, placed);
  return {{"method", placed.method},
          {"how", placed.mapped.how},
          {"gain", gain(subject, placed)},
          {"certain_gain", certain_gain(subject, placed)},
          {"advice", verdict.moves ? "move" : "leave"},
          {"reason", verdict.text},
          {"warning", bandwidth_warning(subject, placed)},
          {"memory_gb_per_s", number_or_null(placed.memory_gb_per_s)},
          {"ms", placed.took_ms},
          {"after", quality_json(placed.quality, subject.problem)},
          {"placement", seats_json(placed.mapped.mapping, subject.problem.tree)}};
}

}  // namespace

std::string map_json(const MapReport& subject, const MethodResult& placed) {
  Json document = document_of(subject);
  document.update(placed_json(subject, placed));
  return json_text(document);
}

std::string map_compare_json(const MapReport& subject, const std::vector<MethodResult>& all) {
  Json document = document_of(subject);
  Json methods = Json::array();
  for (const MethodResult& placed : all) methods.push_back(placed_json(subject, placed));
  document["methods"] = std::move(methods);
  return json_text(document);
}

std::string map_corpus_json(const machine::Machine* machine) {
  Json document = json_document(map_json_schema, "map");
  document["machine"] = machine == nullptr ? Json(nullptr) : Json(picture::machine_title(*machine));
  Json rows = Json::array();
  for_each_corpus_row(machine, [&rows](const CorpusRow& row) {
    Json methods = Json::array();
    for (const CorpusResult& result : row.results) {
      methods.push_back({{"method", mapping::method_names[static_cast<std::size_t>(result.method)]},
                         {"relative_hop_bytes", result.hop_bytes},
                         {"ms", result.took_ms}});
    }
    rows.push_back({{"pattern", row.pattern},
                    {"elements", row.elements},
                    {"numbered", row.shuffled ? "shuffled" : "in order"},
                    {"methods", std::move(methods)}});
  });
  document["rows"] = std::move(rows);
  return json_text(document);
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>

#include "tools/cli/document_json.h"
#include "tools/cli/reproduce/reproduce_report.h"
#include "tools/reproduce/experiment.h"

namespace huddle::cli {
namespace {

constexpr int reproduce_json_schema = 1;

Json row_json(const reproduce::Row& row) {
  const reproduce::Figure& figure = row.figure;
  Json json = {{"name", figure.name},
               {"where", figure.where},
               {"what", figure.what},
               {"kind", reproduce::name(figure.kind)},
               {"unit", figure.unit},
               {"on", figure.on},
               {"published", nullptr},
               {"ours", nullptr},
               {"band", nullptr},
               {"verdict", reproduce::name(row.verdict)},
               {"direction_right", nullptr},
               {"simulated", nullptr},
               {"changed", nullptr},
               {"why", figure.why}};
  if (figure.published) {
    json["published"] = {{"from", figure.published->from}, {"to", figure.published->to}};
  }
  if (!row.answer) return json;
  json["ours"] = row.answer->ours;
  if (const auto& band = row.answer->band) {
    json["band"] = {{"low", band->low}, {"high", band->high}, {"held", nullptr}};
    if (band->held) json["band"]["held"] = *band->held;
  }
  if (const auto right = reproduce::is_direction_right(figure, row.answer->ours)) {
    json["direction_right"] = *right;
  }
  if (row.changed) json["changed"] = *row.changed;
  if (row.simulated) {
    json["simulated"] = {{"ours", *row.simulated},
                         {"holds", reproduce::holds(figure, *row.simulated)}};
  }
  return json;
}

Json tally_json(const reproduce::Tally& tally) {
  return {{"rows", tally.rows}, {"good", tally.good}};
}

}  // namespace

std::string reproduce_json(const Reproductions& all) {
  Json document = json_document(reproduce_json_schema, "reproduce");
  document["seed"] = all.seed;
  document["draws"] = reproduce::draws;
  document["estimates_spread"] = reproduce::estimates_spread;
  document["papers"] = Json::array();
  for (const reproduce::Reproduction& one : all.papers) {
    Json figures = Json::array();
    for (const reproduce::Row& row : one.rows) figures.push_back(row_json(row));
    document["papers"].push_back(
        {{"name", one.paper.name}, {"title", one.paper.title}, {"figures", std::move(figures)}});
  }
  const reproduce::Summary summary = reproduce::summary_of(all.papers);
  document["summary"] = {{"exact", tally_json(summary.exact)},
                         {"priced", tally_json(summary.priced)},
                         {"direction", tally_json(summary.direction)},
                         {"simulated", tally_json(summary.simulated)},
                         {"simulated_direction", tally_json(summary.simulated_direction)},
                         {"unexplained", summary.unexplained},
                         {"inputs", summary.inputs},
                         {"not_compared", summary.not_compared}};
  return json_text(document);
}

}  // namespace huddle::cli

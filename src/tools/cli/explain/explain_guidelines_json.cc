// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>

#include "huddle/huddle.h"
#include "tools/cli/document_json.h"
#include "tools/cli/explain/explain_guidelines.h"

namespace huddle::cli {
namespace {

constexpr int explain_guidelines_schema = 1;

Json calls_json(const PredictedCalls& calls) {
  return {{"predicted_ns", calls.ns}, {"algorithms", calls.algorithms}};
}

Json violation_json(const PredictedGuideline& one) {
  return {{"guideline", text(one.point.guideline)},
          {"operation", name(one.point.guideline.operation)},
          {"ranks", one.ranks},
          {"bytes", one.point.bytes},
          {"ratio", one.ratio()},
          {"call", calls_json(one.call)},
          {"mockup", calls_json(one.mockup)}};
}

}  // namespace

std::string explain_guidelines_json(const GuidelinesExplained& explained) {
  Json root = json_document(explain_guidelines_schema, "explain");
  root["what"] = "guidelines";
  root["huddle"] = huddle_version();
  root["machine"] = explained.subject.machine.name;
  root["calibrated"] = calibrated(explained.subject.machine);
  root["ranks"] = explained.ranks;
  root["tolerance"] = explained.tolerance;
  root["points"] = explained.points;
  root["unknown"] = explained.unknown;
  root["violations"] = Json::array();
  for (const PredictedGuideline& one : explained.violations) {
    root["violations"].push_back(violation_json(one));
  }
  return json_text(root);
}

}  // namespace huddle::cli

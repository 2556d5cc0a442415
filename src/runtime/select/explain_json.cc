// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "runtime/select/explain_json.h"

#include <nlohmann/json.hpp>

namespace huddle::select {

nlohmann::ordered_json explanation_object(const Explanation& explanation) {
  using Json = nlohmann::ordered_json;
  const auto described = [](const Candidate& candidate) {
    return Json{{"algorithm", algorithm_name(candidate.plan)},
                {"parameters", candidate.parameters},
                {"predicted_ns", candidate.ns}};
  };
  Json candidates = Json::array();
  for (const Candidate& candidate : by_cost(explanation.candidates)) {
    candidates.push_back(described(candidate));
  }
  Json refused = Json::object();
  for (const PathState& path : explanation.paths) {
    if (!path.refusal.empty()) refused[std::string(path.name)] = path.refusal;
  }
  const std::string refusal = direct_refusal(explanation);
  return {{"schema", 1},
          {"operation", name(explanation.request.operation)},
          {"bytes", explanation.request.bytes},
          {"ranks", explanation.ranks},
          {"calibrated", explanation.calibrated},
          {"chosen", candidates.empty() ? Json() : described(chosen(explanation))},
          {"forced", explanation.forced.empty() ? Json() : Json(explanation.forced)},
          {"candidates", candidates},
          {"direct_refusal", refusal.empty() ? Json() : Json(refusal)},
          {"refused_paths", refused}};
}

void add_features(nlohmann::ordered_json& object, const PlanFeatures& plan) {
  if (!plan.algorithm.empty()) object["algorithm"] = plan.algorithm;
  if (plan.piece_bytes > 0) object["piece_bytes"] = plan.piece_bytes;
  if (plan.copy_method) object["copy_method"] = memory::name(*plan.copy_method);
}

std::string explanation_json(const Explanation& explanation) {
  return explanation_object(explanation).dump(2);
}

}  // namespace huddle::select

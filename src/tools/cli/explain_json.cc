// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/select/model_error.h"
#include "tools/cli/explain_report.h"
#include "tools/cli/machine_json.h"
#include "tools/picture/facts.h"

namespace huddle::cli {

// The library's own object, and of which machine and seats it speaks.
std::string explain_json(const Explained& explained) {
  const Json explanation = Json::parse(select::explanation_json(explained.explanation));
  Json document = json_document(explanation.at("schema").get<int>(), "explain");
  document.update(explanation);
  const std::string& path = explained.subject.path;
  document["machine"] = picture::machine_title(explained.subject.machine);
  document["machine_file"] = path.empty() ? Json(nullptr) : Json(path);
  document["processors"] = explained.processors;
  document["bind"] = explained.binding;
  document["heap"] = explained.has_heap;
  document["mapped"] = explained.explanation.request.mapped;
  document["model_error"] = explained.error;
  const auto by_ns = by_cost(explained.explanation.candidates);
  const std::size_t ties = near_ties(by_ns, explained.error);
  Json& candidates = document["candidates"];
  const auto chosen = std::find(candidates.begin(), candidates.end(), document["chosen"]);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i]["near_tie"] = i < ties;
    if (explained.simulated_ns) candidates[i]["simulated_ns"] = explained.simulated_ns(by_ns[i]);
  }
  if (chosen != candidates.end()) document["chosen"] = *chosen;
  return json_text(document);
}

}  // namespace huddle::cli

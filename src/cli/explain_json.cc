// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <nlohmann/json.hpp>

#include "cli/explain_report.h"
#include "cli/machine_json.h"
#include "picture/facts.h"

namespace huddle::cli {

// The library's own object, and of which machine and seats it speaks.
std::string explain_json(const Explained& explained) {
  using Json = nlohmann::ordered_json;
  Json document = Json::parse(select::explanation_json(explained.explanation));
  document["command"] = "explain";
  const std::string& path = explained.subject.path;
  document["machine"] = picture::machine_title(explained.subject.machine);
  document["machine_file"] = path.empty() ? Json(nullptr) : Json(path);
  document["processors"] = explained.processors;
  return json_text(document);
}

}  // namespace huddle::cli

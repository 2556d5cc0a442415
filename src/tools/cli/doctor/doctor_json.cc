// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>

#include "tools/cli/doctor/doctor_report.h"
#include "tools/cli/document_json.h"

namespace huddle::cli {

std::string doctor_json(const std::vector<doctor::Finding>& findings) {
  Json root = json_document(doctor_json_schema, "doctor");
  for (std::size_t i = 0; i < doctor::state_names.size(); ++i) {
    root["counts"][doctor::state_names[i]] = count(findings, static_cast<doctor::State>(i));
  }
  root["checks"] = Json::array();
  for (const doctor::Finding& finding : findings) {
    root["checks"].push_back(
        {{"id", finding.id},
         {"group", finding.group},
         {"what", finding.what},
         {"state", doctor::state_names[static_cast<std::size_t>(finding.state)]},
         {"found", finding.found},
         {"cost", finding.cost},
         {"remedy", finding.remedy},
         {"command", finding.command}});
  }
  return json_text(root);
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <nlohmann/json.hpp>

#include "cli/doctor_report.h"

namespace huddle::cli {

std::string doctor_json(const std::vector<doctor::Finding>& findings) {
  using Json = nlohmann::ordered_json;
  Json root = {{"schema", doctor_json_schema}, {"command", "doctor"}};
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
  // Paths need not be UTF-8; JSON has to be.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>

#include "tools/cli/config/config_report.h"
#include "tools/cli/document_json.h"

namespace huddle::cli {

std::string config_json(std::span<const settings::Resolved> settings,
                        std::span<const settings::ConfigFile> files) {
  Json root = json_document(config_json_schema, "config");
  root["settings"] = Json::array();
  for (const settings::Resolved& resolved : settings) {
    root["settings"].push_back(
        {{"key", resolved.setting.key},
         {"value", resolved.value},
         {"layer", settings::layer_names[static_cast<std::size_t>(resolved.layer)]},
         {"from", resolved.where},
         {"takes", resolved.setting.placeholder},
         {"default", resolved.setting.fallback},
         {"environment", settings::environment_name(resolved.setting.key)},
         {"help", resolved.setting.help}});
  }
  root["files"] = Json::array();
  for (const settings::ConfigFile& file : files) {
    root["files"].push_back({{"path", file.path}, {"found", file.found}});
  }
  return json_text(root);
}

}  // namespace huddle::cli

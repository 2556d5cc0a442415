// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <nlohmann/json.hpp>

#include "cli/config_report.h"

namespace huddle::cli {

std::string config_json(std::span<const settings::Resolved> settings,
                        std::span<const settings::ConfigFile> files) {
  using Json = nlohmann::ordered_json;
  Json root = {{"schema", config_json_schema}, {"command", "config"}};
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
  // Values from the environment need not be UTF-8; JSON has to be.
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace huddle::cli

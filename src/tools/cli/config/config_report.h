// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Output of `huddle config` as text and JSON.
#pragma once

#include <span>
#include <string>

#include "common/settings/settings.h"

namespace huddle::cli {

inline constexpr int config_json_schema = 1;

// Returns the table of settings and the configuration files, at most `columns` wide.
std::string config_text(std::span<const settings::Resolved> settings,
                        std::span<const settings::ConfigFile> files, int columns);
// Returns all information about one setting.
std::string setting_text(const settings::Resolved& setting, int columns);
std::string config_json(std::span<const settings::Resolved> settings,
                        std::span<const settings::ConfigFile> files);

}  // namespace huddle::cli

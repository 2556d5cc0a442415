// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Asks the terminal what it can show.
#pragma once

#include <span>

#include "common/settings/settings.h"
#include "tools/cli/console.h"

namespace huddle::cli {

// Settings `color`, `unicode` and `progress` decide where they are not "auto"; NO_COLOR, a pipe and
// the locale do otherwise.
Console make_console(std::span<const settings::Resolved> settings);

// For what is said before or without any settings: help, errors.
Console plain_console();

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle topo --json`.
#pragma once

#include <string>

#include "tools/picture/picture.h"

namespace huddle::cli {

inline constexpr int topo_json_schema = 1;

// One JSON document on one line.
std::string topo_json(const picture::Subject& subject);

}  // namespace huddle::cli

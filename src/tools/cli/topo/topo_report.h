// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// PNG and JSON output of `huddle topo`.
#pragma once

#include <string>

#include "tools/picture/picture.h"

namespace huddle::cli {

// Converts an SVG document with rsvg-convert from PATH and returns the bytes of the PNG file: two
// pixels per point, so that text is sharp. Throws FailureError if rsvg-convert is missing or fails.
std::string png_from(const std::string& svg);

inline constexpr int topo_json_schema = 1;

// Returns one JSON document on one line.
std::string topo_json(const picture::Subject& subject);

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <string>

namespace huddle::cli {

// Converts an SVG document with rsvg-convert, found on PATH, and returns the PNG file's bytes: two
// pixels a point, so that text is sharp. Throws FailureError if rsvg-convert is missing or fails.
std::string png_from(const std::string& svg);

}  // namespace huddle::cli

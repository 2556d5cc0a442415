// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <string>

#include "common/file.h"

namespace huddle::ucx {

// Returns what a tool of UCX printed: the text of a file in samples/.
inline std::string sample(const std::string& name) {
  return read_text(HUDDLE_SOURCE_DIR "/tests/tools/ucx/samples/" + name + ".txt");
}

}  // namespace huddle::ucx

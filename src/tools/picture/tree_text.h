// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The tree as boxes of characters.
#pragma once

#include <optional>
#include <string>

#include "model/machine/topology.h"
#include "tools/picture/style.h"

namespace huddle::picture {

// With a legend below. Large machines are folded until they fit a height that people read.
std::string tree_text(const machine::Topology& topology,
                      const std::optional<machine::CpuSet>& allowed, const Style& style);

}  // namespace huddle::picture

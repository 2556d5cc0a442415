// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the signs and letters in a tree mean, in words that terminal and pictures share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/topology.h"

namespace huddle::picture {

enum class Sign { allowed, other, offline, core, lesser_core, none };

struct LegendItem {
  Sign sign = Sign::none;
  std::string text;
};

// `caches_are_shown`: the tree names the cores' own caches already.
std::vector<LegendItem> legend_of(const machine::Topology& topology,
                                  const std::optional<machine::CpuSet>& allowed,
                                  bool caches_are_shown);

}  // namespace huddle::picture

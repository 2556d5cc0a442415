// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Characters from light to dark for places without colour. There are few of them, so a machine of
// few different latencies gets one for each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/picture/matrix.h"

namespace huddle::picture {

struct Shade {
  double most_ns = 0;  // up to here
  std::string_view character;
};

struct Shades {
  std::vector<Shade> steps;  // rising; the last one takes everything beyond as well
  bool exact = false;        // each stands for one latency, not for a range

  std::string_view of(double ns) const;
  // "░░ 45, ██ 150 ns" or "░░ to 61, ██ to 150 ns".
  std::string legend() const;
};

// pre: the blocks hold a latency.
Shades shades_for(const Blocks& blocks, const Scale& scale, bool unicode);

}  // namespace huddle::picture

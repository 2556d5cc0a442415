// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The k-nomial tree over places 0 to p - 1 with its root at 0. The level of a place is the position
// of its lowest nonzero digit in base k; its parent has 0 there. So a place's children at a level
// below its own differ from it in one digit, and the subtree of each is a range of places.
#pragma once

#include <algorithm>
#include <cstdint>

namespace huddle::schedules {

class KnomialTree {
 public:
  KnomialTree(int places, int radix) : places_(places), radix_(radix) {
    for (std::int64_t unit = 1; unit < places; unit *= radix) ++levels_;
  }

  int levels() const { return levels_; }
  // Returns the level of a place; levels() for the root.
  int level_of(int place) const {
    int level = 0;
    while (level < levels_ && place / unit(level) % radix_ == 0) ++level;
    return level;
  }
  // Requires: place != 0.
  int parent(int place) const {
    const std::int64_t above = unit(level_of(place) + 1);
    return static_cast<int>(place / above * above);
  }
  // Returns the number of children at a level. Children are numbered from 1.
  int children(int place, int level) const {
    if (level >= level_of(place)) return 0;
    const std::int64_t after = (places_ - 1 - place) / unit(level);
    return static_cast<int>(std::min<std::int64_t>(after, radix_ - 1));
  }
  int child(int place, int level, int number) const {
    return static_cast<int>(place + number * unit(level));
  }
  // Returns the size of the subtree of a place at this level, including the place itself.
  int subtree(int place, int level) const {
    return static_cast<int>(std::min<std::int64_t>(unit(level), places_ - place));
  }

 private:
  std::int64_t unit(int level) const {
    std::int64_t unit = 1;
    for (int i = 0; i < level; ++i) unit *= radix_;
    return unit;
  }

  int places_;
  int radix_;
  int levels_ = 0;
};

}  // namespace huddle::schedules

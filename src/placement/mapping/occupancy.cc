// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/occupancy.h"

#include <algorithm>
#include <numeric>

namespace huddle::place {
namespace {

std::vector<int> fixed_below(const Problem& problem) {
  // How many are fixed on the slots before each slot.
  std::vector<int> before(static_cast<std::size_t>(problem.tree.size()) + 1, 0);
  for (const int slot : problem.fixed) {
    if (slot != no_slot) ++before[static_cast<std::size_t>(slot) + 1];
  }
  std::partial_sum(before.begin(), before.end(), before.begin());
  std::vector<int> count;
  for (const Object& object : problem.tree.objects()) {
    count.push_back(before[static_cast<std::size_t>(object.last)] -
                    before[static_cast<std::size_t>(object.first)]);
  }
  return count;
}

}  // namespace

std::vector<int> occupancy(const Problem& problem, Spread spread) {
  const auto& objects = problem.tree.objects();
  // Those who are fixed have their places; the others are handed down from the root.
  std::vector<int> count = fixed_below(problem);
  std::vector<int> to_hand_down(objects.size(), 0);
  to_hand_down[0] = problem.elements() - count[0];
  for (std::size_t o = 0; o < objects.size(); ++o) {
    int left = to_hand_down[o];
    count[o] += left;
    const auto give = [&](int child, int most) {
      const auto c = static_cast<std::size_t>(child);
      const int given = std::min({left, most, objects[c].slots() - count[c] - to_hand_down[c]});
      to_hand_down[c] += given;
      left -= given;
    };
    switch (spread) {
      case Spread::fill:
        for (const int child : objects[o].children) give(child, left);
        break;
      case Spread::evenly:
        // Water level by water level: an object that is full or holds more already is passed over.
        for (int level = 1; left > 0 && !objects[o].children.empty(); ++level) {
          for (const int child : objects[o].children) {
            const auto c = static_cast<std::size_t>(child);
            give(child, std::max(0, level - count[c] - to_hand_down[c]));
          }
        }
        break;
    }
  }
  return count;
}

}  // namespace huddle::place

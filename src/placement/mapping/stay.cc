// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/stay.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "common/index.h"

namespace huddle::place {
namespace {

class Stayer {
 public:
  Stayer(const Problem& problem, const Mapping& mapping)
      : problem_(problem), occupant_(occupants(problem, mapping)), result_(mapping) {}

  Mapping run() {
    lay(0, 0);
    return std::move(result_);
  }

 private:
  const Object& object(int number) const { return problem_.tree.objects()[at(number)]; }

  // Everybody who is to sit below one object is laid onto another one that is alike.
  void lay(int from, int onto) {
    const Object& source = object(from);
    const Object& target = object(onto);
    if (source.is_leaf()) {
      const int element = occupant_[at(source.first)];
      if (element >= 0) result_[at(element)] = target.first;
      return;
    }
    const std::vector<int> target_of = paired(source, target);
    for (std::size_t c = 0; c < source.children.size(); ++c) {
      lay(source.children[c], target.children[at(target_of[c])]);
    }
  }

  // By child of the source: the child of the target that it is laid onto.
  std::vector<int> paired(const Object& source, const Object& target) const {
    const auto count = source.children.size();
    std::vector<int> target_of(count, -1);
    std::vector<char> taken(count, 0);
    const auto pair = [&](std::size_t child, int onto) {
      target_of[child] = onto;
      taken[at(onto)] = 1;
    };
    std::map<std::pair<int, int>, int> stay;  // how many would stay where they are
    for (std::size_t c = 0; c < count; ++c) {
      const Object& group = object(source.children[c]);
      for (int slot = group.first; slot < group.last; ++slot) {
        const int element = occupant_[at(slot)];
        if (element < 0) continue;
        if (problem_.fixed[at(element)] != no_slot && target_of[c] < 0) {
          pair(c, static_cast<int>(c));  // source and target are one, then
        }
        const int now = problem_.present[at(element)];
        if (now >= target.first && now < target.last) {
          ++stay[{static_cast<int>(c), child_with(target, now)}];
        }
      }
    }
    std::vector<std::pair<int, std::pair<int, int>>> by_count;
    for (const auto& [which, staying] : stay) by_count.emplace_back(-staying, which);
    std::sort(by_count.begin(), by_count.end());
    const auto fits = [&](std::size_t child, int onto) {
      return target_of[child] < 0 && taken[at(onto)] == 0 &&
             problem_.tree.alike(source.children[child], target.children[at(onto)]);
    };
    for (const auto& [staying, which] : by_count) {
      if (fits(at(which.first), which.second)) pair(at(which.first), which.second);
    }
    std::size_t first_free = 0;
    for (std::size_t c = 0; c < count; ++c) {
      while (first_free < count && taken[first_free] != 0) ++first_free;
      for (std::size_t onto = first_free; target_of[c] < 0; ++onto) {
        if (fits(c, static_cast<int>(onto))) pair(c, static_cast<int>(onto));
      }
    }
    return target_of;
  }

  int child_with(const Object& target, int slot) const {
    const auto after =
        std::upper_bound(target.children.begin(), target.children.end(), slot,
                         [this](int wanted, int child) { return wanted < object(child).first; });
    return static_cast<int>(after - target.children.begin()) - 1;
  }

  const Problem& problem_;
  std::vector<int> occupant_;
  Mapping result_;
};

}  // namespace

Mapping staying(const Problem& problem, Mapping mapping) {
  if (!problem.tree.is_regular()) return mapping;
  return Stayer(problem, mapping).run();
}

Mapping in_order_within(const Problem& problem, Mapping mapping) {
  if (!problem.tree.is_regular()) return mapping;
  const std::vector<int> occupant = occupants(problem, mapping);
  const auto& objects = problem.tree.objects();
  for (const Object& object : objects) {
    const bool only_slots =
        !object.is_leaf() && std::all_of(object.children.begin(), object.children.end(),
                                         [&](int child) { return objects[at(child)].is_leaf(); });
    if (!only_slots) continue;
    std::vector<int> elements;
    std::vector<int> slots;
    for (int slot = object.first; slot < object.last; ++slot) {
      const int element = occupant[at(slot)];
      if (element < 0 || problem.fixed[at(element)] != no_slot) continue;
      elements.push_back(element);
      slots.push_back(slot);
    }
    std::sort(elements.begin(), elements.end());
    for (std::size_t i = 0; i < slots.size(); ++i) mapping[at(elements[i])] = slots[i];
  }
  return mapping;
}

}  // namespace huddle::place

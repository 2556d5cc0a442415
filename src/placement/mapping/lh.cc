// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "common/arithmetic.h"
#include "placement/mapping/method.h"

namespace huddle::mapping {
namespace {

std::vector<int> fixed_below(const MappingProblem& problem) {
  // Number of elements that are fixed to the slots before each slot.
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

std::vector<int> occupancy(const MappingProblem& problem, Spread spread) {
  const auto& objects = problem.tree.objects();
  // Fixed elements stay in place; the others are distributed from the root down.
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
        // Raises the fill level step by step and skips objects that are full or already hold more.
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

namespace {

// Two objects have the same shape if their occupied parts are arranged alike; their contents can
// then be exchanged. A slot with a fixed element has a shape of its own.
class Shapes {
 public:
  Shapes(const MappingProblem& problem, const std::vector<int>& occupancy)
      : shape_of_object(problem.tree.objects().size(), empty),
        shape_of_element(at(problem.elements()), any_element) {
    const auto& objects = problem.tree.objects();
    std::vector<int> fixed_at(at(problem.tree.size()), -1);
    for (int v = 0; v < problem.elements(); ++v) {
      if (problem.fixed[at(v)] != no_slot) fixed_at[at(problem.fixed[at(v)])] = v;
    }
    std::map<std::vector<int>, int> known;
    for (std::size_t o = objects.size(); o-- > 0;) {
      if (occupancy[o] == 0) continue;
      int& shape = shape_of_object[o];
      if (objects[o].is_leaf()) {
        const int element = fixed_at[at(objects[o].first)];
        shape = element < 0 ? any_element : fresh(true);
        if (element >= 0) shape_of_element[at(element)] = shape;
        continue;
      }
      std::vector<int> below;
      for (const int child : objects[o].children) {
        if (shape_of_object[at(child)] != empty) below.push_back(shape_of_object[at(child)]);
      }
      std::sort(below.begin(), below.end());
      const bool only_one = std::any_of(below.begin(), below.end(),
                                        [this](int inner) { return is_the_only_one(inner); });
      const auto [found, is_new] = known.try_emplace(std::move(below), count());
      if (is_new) fresh(only_one);
      shape = found->second;
    }
  }

  static constexpr int empty = -1;
  static constexpr int any_element = 0;
  std::vector<int> shape_of_object;
  std::vector<int> shape_of_element;
  int count() const { return static_cast<int>(only_ones_.size()); }
  // Returns whether the shape contains a fixed element. Then only one item and one object have it.
  bool is_the_only_one(int shape) const { return only_ones_[at(shape)]; }

 private:
  int fresh(bool only_one) {
    only_ones_.push_back(only_one);
    return count() - 1;
  }

  std::vector<bool> only_ones_ = {false};  // by shape
};

// An element, or a group of items that share an object.
struct Item {
  int shape = Shapes::any_element;
  int element = -1;           // of a single element
  std::vector<Item> members;  // of a group
};

class Grouping {
 public:
  Grouping(const MappingProblem& problem, const std::vector<int>& occupancy)
      : problem_(problem), shapes_(problem, occupancy), graph_(problem.graph) {
    for (int v = 0; v < problem.elements(); ++v) {
      items_.push_back({shapes_.shape_of_element[at(v)], v, {}});
    }
    needed_.assign(at(shapes_.count()), 0);
  }

  Mapping run() {
    const auto levels = static_cast<int>(problem_.tree.levels().size());
    for (int level = 0; level < levels; ++level) group(level);
    Mapping mapping(at(problem_.elements()), no_slot);
    lay_out(0, items_.front(), mapping);
    return mapping;
  }

 private:
  // Forms the groups of all objects of a level. Items that belong to outer levels stay as they are.
  void group(int level) {
    sum_.assign(items_.size(), 0);
    part_of_.assign(items_.size(), -1);
    first_free_ = 0;
    only_ones_.clear();
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (shapes_.is_the_only_one(items_[i].shape)) only_ones_.push_back(static_cast<int>(i));
    }
    int groups = 0;
    std::vector<Item> formed;
    const auto& objects = problem_.tree.objects();
    for (std::size_t o = 0; o < objects.size(); ++o) {
      if (objects[o].is_leaf() || objects[o].level != level) continue;
      if (shapes_.shape_of_object[o] == Shapes::empty) continue;
      formed.push_back({shapes_.shape_of_object[o], -1, {}});
      fill(objects[o], groups++, formed.back());
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (part_of_[i] >= 0) continue;
      part_of_[i] = groups++;
      formed.push_back(std::move(items_[i]));
    }
    contracted_ = contracted(graph(), part_of_, groups);
    use_contracted_ = true;
    items_ = std::move(formed);
  }

  const Graph& graph() const { return use_contracted_ ? contracted_ : graph_; }

  void fill(const Object& object, int number, Item& group) {
    int left = 0;
    for (const int child : object.children) {
      const int shape = shapes_.shape_of_object[at(child)];
      if (shape == Shapes::empty) continue;
      ++needed_[at(shape)];
      ++left;
    }
    // A group starts with the items that can only be in it.
    for (const int item : only_ones_) {
      if (!fits(item)) continue;
      take(item, number, group);
      --left;
    }
    for (; left > 0; --left) take(next_item(), number, group);
    for (const int other : touched_) sum_[at(other)] = 0;
    touched_.clear();
  }

  bool fits(int item) const {
    return part_of_[at(item)] < 0 && needed_[at(items_[at(item)].shape)] > 0;
  }

  // Returns the item that communicates most with the group, or else the first that fits.
  int next_item() {
    int best = -1;
    for (const int item : touched_) {
      if (!fits(item)) continue;
      const double more = best < 0 ? 1 : sum_[at(item)] - sum_[at(best)];
      if (more > 0 || (more == 0 && item < best)) best = item;
    }
    if (best >= 0) return best;
    while (part_of_[first_free_] >= 0) ++first_free_;
    int item = static_cast<int>(first_free_);
    while (!fits(item)) ++item;
    return item;
  }

  void take(int item, int number, Item& group) {
    part_of_[at(item)] = number;
    --needed_[at(items_[at(item)].shape)];
    const Graph::Row row = graph().row(item);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int other = row.neighbours[i];
      if (part_of_[at(other)] >= 0) continue;
      if (sum_[at(other)] == 0) touched_.push_back(other);
      sum_[at(other)] += row.bytes[i];
    }
    group.members.push_back(std::move(items_[at(item)]));
    items_[at(item)].shape = group.members.back().shape;
  }

  // Maps the tree of groups onto the tree of objects: the members of a shape, in the order in which
  // they were added, go to the objects of that shape.
  void lay_out(int object_number, const Item& item, Mapping& mapping) const {
    const Object& object = problem_.tree.objects()[at(object_number)];
    if (object.is_leaf()) {
      mapping[at(item.element)] = object.first;
      return;
    }
    const auto by_shape = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::vector<std::pair<int, int>> children;
    for (const int child : object.children) {
      const int shape = shapes_.shape_of_object[at(child)];
      if (shape != Shapes::empty) children.emplace_back(shape, child);
    }
    std::stable_sort(children.begin(), children.end(), by_shape);
    std::vector<std::pair<int, const Item*>> members;
    for (const Item& member : item.members) members.emplace_back(member.shape, &member);
    std::stable_sort(members.begin(), members.end(), by_shape);
    for (std::size_t i = 0; i < members.size(); ++i) {
      lay_out(children[i].second, *members[i].second, mapping);
    }
  }

  const MappingProblem& problem_;
  Shapes shapes_;
  const Graph& graph_;
  Graph contracted_;
  bool use_contracted_ = false;
  std::vector<Item> items_;
  std::vector<int> only_ones_;  // items that fit only one object
  std::vector<int> needed_;     // by shape: number of items that the current group still needs
  std::vector<int> part_of_;    // by item: its group, -1 if it is free
  std::vector<double> sum_;     // by item: bytes that it exchanges with the current group
  std::vector<int> touched_;    // items whose sum is not 0
  std::size_t first_free_ = 0;
};

}  // namespace

Mapping lh(const MappingProblem& problem, Spread spread) {
  return Grouping(problem, occupancy(problem, spread)).run();
}

Mapping lh(const MappingProblem& problem) {
  Mapping filled = lh(problem, Spread::fill);
  if (problem.elements() == problem.tree.size()) return filled;
  Mapping spread = lh(problem, Spread::evenly);
  return predicted_time(problem, spread).ns() < predicted_time(problem, filled).ns() ? spread
                                                                                     : filled;
}

}  // namespace huddle::mapping

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/arithmetic.h"
#include "placement/mapping/method.h"

namespace huddle::mapping {
namespace {

// An element tries to move next to this number of remote communication partners, heaviest first.
constexpr std::size_t most_partners = 8;
// Number of slots that are tried next to each partner.
constexpr int most_slots = 32;

constexpr int nobody = -1;

class Refiner {
 public:
  Refiner(const MappingProblem& problem, Mapping mapping)
      : problem_(problem),
        mapping_(std::move(mapping)),
        occupant_(occupants(problem, mapping_)),
        beside_(at(problem.tree.size())),
        is_settled_(at(problem.elements()), 0) {
    if (problem.memory != nullptr) {
      loads_.emplace(*problem.memory, mapping_);
      memory_ns_ = problem.memory->ns(mapping_) / problem.elements();
    }
    for (const Object& object : problem.tree.objects()) {  // inner objects come after outer ones
      if (object.is_leaf()) continue;
      for (int slot = object.first; slot < object.last; ++slot) beside_[at(slot)] = &object;
    }
    // Budget of edge visits: enough for a few sweeps over a sparse graph.
    looks_left_ = 4'000'000 + 4 * static_cast<long long>(problem.graph.edges());
  }

  Mapping run() {
    constexpr int most_sweeps = 8;
    for (int sweep = 0; sweep < most_sweeps && sweep_once(); ++sweep) {
    }
    return std::move(mapping_);
  }

 private:
  struct Move {
    int slot = no_slot;
    double gain = 0;
  };

  // Tries to improve each element whose neighbours have moved since it was last visited.
  bool sweep_once() {
    bool better = false;
    for (int v = 0; v < problem_.elements() && looks_left_ > 0; ++v) {
      if (is_settled_[at(v)] != 0) continue;
      is_settled_[at(v)] = 1;
      if (problem_.fixed[at(v)] == no_slot && improve(v)) better = true;
    }
    return better;
  }

  bool improve(int element) {
    const int own = mapping_[at(element)];
    const double here = cost_at(element, own, nobody);
    Move best{no_slot, 1e-9 * (here + memory_ns_)};
    tried_.clear();
    for (const int partner : partners_elsewhere(element)) {
      const int there = mapping_[at(partner)];
      const Object* const near = beside_[at(there)];
      // Slots of one object are equivalent unless latencies were measured per pair.
      if (problem_.tree.is_regular()) {
        if (std::find(tried_.begin(), tried_.end(), near) != tried_.end()) continue;
        tried_.push_back(near);
      }
      look_beside(element, here, there, *near, best);
    }
    if (loads_ && problem_.memory->streams(element)) look_everywhere(element, here, best);
    if (best.slot == no_slot) return false;
    exchange(element, best.slot);
    return true;
  }

  // Tries the slots of all objects: an element that streams may gain far away from its partners.
  void look_everywhere(int element, double here, Move& best) {
    const Object* empty = nullptr;  // of an object's free slots, only the first is tried
    for (int slot = 0; slot < problem_.tree.size() && looks_left_ > 0; ++slot) {
      if (slot == mapping_[at(element)]) continue;
      if (occupant_[at(slot)] < 0 && problem_.tree.is_regular()) {
        if (empty == beside_[at(slot)]) continue;
        empty = beside_[at(slot)];
      }
      const double gain = gain_of(element, here, slot);
      if (gain > best.gain) best = {slot, gain};
    }
  }

  // Returns the heaviest communication partners that are not in the same innermost object.
  const std::vector<int>& partners_elsewhere(int element) {
    const Graph::Row row = problem_.graph.row(element);
    looks_left_ -= static_cast<long long>(row.size());
    const Object* const own = beside_[at(mapping_[at(element)])];
    candidates_.clear();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_beside = beside_[at(mapping_[at(row.neighbours[i])])] == own;
      if (!is_beside || !problem_.tree.is_regular()) {
        candidates_.emplace_back(-row.bytes[i], row.neighbours[i]);
      }
    }
    const std::size_t count = std::min(candidates_.size(), most_partners);
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(count),
                      candidates_.end());
    partners_.clear();
    for (std::size_t i = 0; i < count; ++i) partners_.push_back(candidates_[i].second);
    return partners_;
  }

  // Tries the slots around a partner, within its innermost shared object.
  void look_beside(int element, double here, int around, const Object& near, Move& best) {
    const int least = std::min(around - most_slots / 2, near.last - most_slots);
    const int first = std::max(near.first, least);
    const int last = std::min(near.last, first + most_slots);
    const int own = mapping_[at(element)];
    const bool regular = problem_.tree.is_regular();
    double gain = regular ? here - cost_at(element, around, nobody) : 0;
    for (int slot = first; slot < last; ++slot) {
      if (slot == own) continue;
      if (!regular) gain = here - cost_at(element, slot, nobody);
      // An element that gains nothing itself is not moved for the benefit of the exchanged one.
      if (gain <= 0 && !loads_) continue;
      const double both = gain_of(element, here, slot);
      if (both > best.gain) best = {slot, both};
    }
  }

  // Returns the cost of the element's communication on that slot, except with `without`.
  double cost_at(int element, int slot, int without) {
    const Graph::Row row = problem_.graph.row(element);
    looks_left_ -= static_cast<long long>(row.size());
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int other = row.neighbours[i];
      if (other != without) sum += row.bytes[i] * problem_.tree.ns(slot, mapping_[at(other)]);
    }
    return sum * problem_.lines_per_byte;
  }

  // Returns the gain of moving the element to `slot`; an element on that slot takes its place.
  double gain_of(int element, double here, int slot) {
    const int own = mapping_[at(element)];
    const int other = occupant_[at(slot)];
    if (other == element || (other >= 0 && problem_.fixed[at(other)] != no_slot)) return 0;
    const double memory =
        loads_ ? loads_->gain(element, own, slot, other, occupant_, looks_left_) : 0;
    if (other < 0) return memory + here - cost_at(element, slot, nobody);
    // The cost between the two is the same before and after.
    const double theirs = cost_at(other, slot, element) - cost_at(other, own, element);
    return memory + cost_at(element, own, other) - cost_at(element, slot, other) + theirs;
  }

  void exchange(int element, int slot) {
    const int own = mapping_[at(element)];
    const int other = occupant_[at(slot)];
    if (loads_) loads_->exchange(element, own, slot, other);
    occupant_[at(own)] = other;
    occupant_[at(slot)] = element;
    mapping_[at(element)] = slot;
    if (other >= 0) mapping_[at(other)] = own;
    for (const int one : {element, other}) {
      if (one < 0) continue;
      is_settled_[at(one)] = 0;
      for (const int neighbour : problem_.graph.row(one).neighbours) is_settled_[at(neighbour)] = 0;
    }
    if (loads_) std::fill(is_settled_.begin(), is_settled_.end(), 0);
  }

  const MappingProblem& problem_;
  Mapping mapping_;
  std::vector<int> occupant_;
  std::optional<MemoryLoads> loads_;   // nothing if it is unknown how much the elements stream
  double memory_ns_ = 0;               // at the start, per element
  std::vector<const Object*> beside_;  // by slot: its innermost shared object
  std::vector<char> is_settled_;       // by element
  // Scratch space of improve().
  std::vector<std::pair<double, int>> candidates_;
  std::vector<int> partners_;
  std::vector<const Object*> tried_;
  long long looks_left_ = 0;
};

}  // namespace

Mapping refine(const MappingProblem& problem, Mapping mapping) {
  if (problem.tree.size() < 2) return mapping;
  return Refiner(problem, std::move(mapping)).run();
}

namespace {

class Stayer {
 public:
  Stayer(const MappingProblem& problem, const Mapping& mapping)
      : problem_(problem), occupant_(occupants(problem, mapping)), result_(mapping) {}

  Mapping run() {
    lay(0, 0);
    return std::move(result_);
  }

 private:
  const Object& object(int number) const { return problem_.tree.objects()[at(number)]; }

  // Moves the contents of one object to an identical one.
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

  // Returns for each child of the source the child of the target to which its contents go.
  std::vector<int> paired(const Object& source, const Object& target) const {
    const auto count = source.children.size();
    std::vector<int> target_of(count, -1);
    std::vector<char> taken(count, 0);
    const auto pair = [&](std::size_t child, int onto) {
      target_of[child] = onto;
      taken[at(onto)] = 1;
    };
    std::map<std::pair<int, int>, int> stay;  // number of elements that would stay on their slots
    for (std::size_t c = 0; c < count; ++c) {
      const Object& group = object(source.children[c]);
      for (int slot = group.first; slot < group.last; ++slot) {
        const int element = occupant_[at(slot)];
        if (element < 0) continue;
        if (problem_.fixed[at(element)] != no_slot && target_of[c] < 0) {
          pair(c, static_cast<int>(c));  // source and target are the same object in this case
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

  const MappingProblem& problem_;
  std::vector<int> occupant_;
  Mapping result_;
};

}  // namespace

Mapping staying(const MappingProblem& problem, Mapping mapping) {
  if (!problem.tree.is_regular()) return mapping;
  return Stayer(problem, mapping).run();
}

Mapping in_order_within(const MappingProblem& problem, Mapping mapping) {
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

}  // namespace huddle::mapping

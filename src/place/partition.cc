// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "place/partition.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "place/bisect.h"

namespace huddle::place {
namespace {

std::size_t at(int number) { return static_cast<std::size_t>(number); }

class Partitioner {
 public:
  Partitioner(const Problem& problem, const PartitionEffort& effort)
      : problem_(problem),
        effort_(effort),
        mapping_(at(problem.elements()), no_slot),
        new_name_(at(problem.elements()), -1),
        anybody_fixed_(std::any_of(problem.fixed.begin(), problem.fixed.end(),
                                   [](int slot) { return slot != no_slot; })) {}

  Mapping run() {
    std::vector<int> everybody(at(problem_.elements()));
    std::iota(everybody.begin(), everybody.end(), 0);
    into_object(0, problem_.graph, everybody);
    return std::move(mapping_);
  }

 private:
  using Elements = std::vector<int>;

  // `graph` is what these elements say to each other.
  void into_object(int number, const Graph& graph, const Elements& elements) {
    const Object& object = problem_.tree.objects()[at(number)];
    if (elements.empty()) return;
    if (object.is_leaf()) {
      mapping_[at(elements.front())] = object.first;
      return;
    }
    // Slots that are all as far from each other: whoever sits on which costs the same.
    const bool only_slots =
        std::all_of(object.children.begin(), object.children.end(),
                    [this](int child) { return problem_.tree.objects()[at(child)].is_leaf(); });
    only_slots ? seat(object, elements) : into_children(object.children, graph, elements);
  }

  void seat(const Object& object, const Elements& elements) {
    std::vector<char> taken(at(object.slots()), 0);
    for (const int element : elements) {
      const int slot = problem_.fixed[at(element)];
      if (slot == no_slot) continue;
      mapping_[at(element)] = slot;
      taken[at(slot - object.first)] = 1;
    }
    std::size_t next = 0;
    for (const int element : elements) {
      if (mapping_[at(element)] != no_slot) continue;
      while (taken[next] != 0) ++next;
      mapping_[at(element)] = object.first + static_cast<int>(next++);
    }
  }

  void into_children(std::span<const int> children, const Graph& graph, const Elements& elements) {
    if (elements.empty()) return;
    if (children.size() == 1) {
      into_object(children.front(), graph, elements);
      return;
    }
    const std::span<const int> near = children.first((children.size() + 1) / 2);
    const std::span<const int> far = children.subspan(near.size());
    const std::vector<signed char> side = cut(near, far, graph, elements);
    for (const signed char which : {0, 1}) {
      std::vector<int> vertices;
      for (int v = 0; v < graph.size(); ++v) {
        if (side[at(v)] == which) vertices.push_back(v);
      }
      Elements members;
      for (const int v : vertices) members.push_back(elements[at(v)]);
      into_children(which == 0 ? near : far, induced(graph, vertices, new_name_), members);
    }
  }

  int slots_of(std::span<const int> children) const {
    return problem_.tree.objects()[at(children.back())].last -
           problem_.tree.objects()[at(children.front())].first;
  }

  std::vector<signed char> cut(std::span<const int> near, std::span<const int> far,
                               const Graph& graph, const Elements& elements) {
    Bisection request{graph};
    int fixed_near = 0;
    int fixed_far = 0;
    if (anybody_fixed_) {
      const int border = problem_.tree.objects()[at(far.front())].first;
      for (const int element : elements) {
        const int slot = problem_.fixed[at(element)];
        const bool is_near = slot != no_slot && slot < border;
        const bool is_far = slot != no_slot && !is_near;
        request.fixed.push_back(is_near ? 0 : is_far ? 1 : any_side);
        fixed_near += is_near ? 1 : 0;
        fixed_far += is_far ? 1 : 0;
      }
    }
    const int all = graph.size();
    request.least = std::max(all - slots_of(far), fixed_near);
    request.most = std::min(slots_of(near), all - fixed_far);
    request.tries = effort_.tries;
    request.seed = effort_.seed + at(bisections_++);
    return bisect(request).side;
  }

  const Problem& problem_;
  PartitionEffort effort_;
  Mapping mapping_;
  std::vector<int> new_name_;
  bool anybody_fixed_;
  int bisections_ = 0;
};

}  // namespace

Mapping partition(const Problem& problem, const PartitionEffort& effort) {
  return Partitioner(problem, effort).run();
}

}  // namespace huddle::place

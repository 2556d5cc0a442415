// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/method.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "common/arithmetic.h"
#include "placement/mapping/bisect.h"

namespace huddle::mapping {
namespace {

class Partitioner {
 public:
  Partitioner(const MappingProblem& problem, const PartitionEffort& effort)
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

  // `graph` is the communication among `elements`.
  void into_object(int number, const Graph& graph, const Elements& elements) {
    const Object& object = problem_.tree.objects()[at(number)];
    if (elements.empty()) return;
    if (object.is_leaf()) {
      mapping_[at(elements.front())] = object.first;
      return;
    }
    // The slots of an innermost object are at equal distances, so that their order does not matter.
    const bool only_slots =
        std::all_of(object.children.begin(), object.children.end(),
                    [this](int child) { return problem_.tree.objects()[at(child)].is_leaf(); });
    only_slots ? seat(object, elements) : into_children(object, graph, elements);
  }

  // Bisects until every child has its elements, lets children exchange elements, then descends.
  void into_children(const Object& object, const Graph& graph, const Elements& elements) {
    std::vector<int> vertices(elements.size());
    std::iota(vertices.begin(), vertices.end(), 0);
    std::vector<int> child_of(elements.size(), 0);
    split(object.children, 0, graph, elements, vertices, child_of);
    if (object.children.size() > 2 && !is_dense(graph)) {
      exchange(object, graph, elements, child_of);
    }
    for (std::size_t c = 0; c < object.children.size(); ++c) {
      const std::vector<int> members = members_of(child_of, static_cast<int>(c));
      Elements below;
      for (const int v : members) below.push_back(elements[at(v)]);
      into_object(object.children[c], induced(graph, members, new_name_), below);
    }
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

  // Dense graphs get less effort: bisecting them takes long, and their cuts differ little.
  static bool is_dense(const Graph& graph) {
    constexpr std::size_t many_edges = 1'000'000;
    return graph.edges() > many_edges;
  }

  // Distributes the vertices of `graph` over `children`, the first of which has number `first`.
  // `vertices` maps the vertices of `graph` to indices in `child_of`.
  void split(std::span<const int> children, int first, const Graph& graph, const Elements& elements,
             const std::vector<int>& vertices, std::vector<int>& child_of) {
    if (children.size() == 1 || elements.empty()) {
      for (const int v : vertices) child_of[at(v)] = first;
      return;
    }
    const std::span<const int> near = children.first((children.size() + 1) / 2);
    const std::span<const int> far = children.subspan(near.size());
    Bisection request = question(near, far, graph, elements);
    // The first cuts are the outermost ones and affect the cost most.
    const bool is_early = 4 * graph.size() > problem_.elements();
    request.tries = effort_.tries + (is_early ? 1 : 0);
    if (is_dense(graph)) request.tries = 1;
    request.seed = effort_.seed + at(bisections_++);
    const std::vector<signed char> side = bisect(request).side;
    for (signed char which = 0; which <= 1; ++which) {
      std::vector<int> members;
      for (int v = 0; v < graph.size(); ++v) {
        if (side[at(v)] == which) members.push_back(v);
      }
      Elements below;
      std::vector<int> names;
      for (const int v : members) {
        below.push_back(elements[at(v)]);
        names.push_back(vertices[at(v)]);
      }
      split(which == 0 ? near : far, first + (which == 0 ? 0 : static_cast<int>(near.size())),
            induced(graph, members, new_name_), below, names, child_of);
    }
  }

  // Improves the cuts between pairs of children, which bisection may have separated at different
  // levels. Only the pairs that exchange the most bytes are improved.
  void exchange(const Object& object, const Graph& graph, const Elements& elements,
                std::vector<int>& child_of) {
    for (const auto& [one, other] : pairs_that_talk_most(object, graph, child_of)) {
      std::vector<int> members = members_of(child_of, one);
      const auto border = static_cast<std::ptrdiff_t>(members.size());
      const std::vector<int> others = members_of(child_of, other);
      members.insert(members.end(), others.begin(), others.end());
      Elements both;
      for (const int v : members) both.push_back(elements[at(v)]);
      const Graph between = induced(graph, members, new_name_);
      Cut cut{std::vector<signed char>(members.size(), 1), 0};
      std::fill(cut.side.begin(), cut.side.begin() + border, static_cast<signed char>(0));
      const std::span<const int> children = object.children;
      cut = improve(
          question(children.subspan(at(one), 1), children.subspan(at(other), 1), between, both),
          std::move(cut));
      for (std::size_t i = 0; i < members.size(); ++i) {
        child_of[at(members[i])] = cut.side[i] == 0 ? one : other;
      }
    }
  }

  static std::vector<std::pair<int, int>> pairs_that_talk_most(const Object& object,
                                                               const Graph& graph,
                                                               const std::vector<int>& child_of) {
    const auto children = static_cast<int>(object.children.size());
    constexpr int most_children = 512;  // with more, the table would be larger than the graph
    if (children > most_children) return {};
    std::vector<double> bytes(at(children) * at(children), 0);
    for (int v = 0; v < graph.size(); ++v) {
      const Graph::Row row = graph.row(v);
      double* const to = &bytes[at(child_of[at(v)]) * at(children)];
      for (std::size_t i = 0; i < row.size(); ++i)
        to[child_of[at(row.neighbours[i])]] += row.bytes[i];
    }
    std::vector<std::pair<double, std::pair<int, int>>> pairs;
    for (int one = 0; one < children; ++one) {
      for (int other = one + 1; other < children; ++other) {
        const double talk = bytes[at(one) * at(children) + at(other)];
        if (talk > 0) pairs.emplace_back(-talk, std::pair(one, other));
      }
    }
    std::sort(pairs.begin(), pairs.end());
    // Each child is in about four of these pairs, which takes the time of two more cuts.
    if (pairs.size() > 2 * at(children)) pairs.resize(2 * at(children));
    std::vector<std::pair<int, int>> most;
    for (const auto& [talk, pair] : pairs) most.push_back(pair);
    return most;
  }

  static std::vector<int> members_of(const std::vector<int>& child_of, int child) {
    std::vector<int> members;
    for (std::size_t v = 0; v < child_of.size(); ++v) {
      if (child_of[v] == child) members.push_back(static_cast<int>(v));
    }
    return members;
  }

  int slots_of(std::span<const int> children) const {
    return problem_.tree.objects()[at(children.back())].last -
           problem_.tree.objects()[at(children.front())].first;
  }

  // Returns the bisection problem: the bounds of each side and the elements that are fixed to it.
  Bisection question(std::span<const int> near, std::span<const int> far, const Graph& graph,
                     const Elements& elements) const {
    Bisection request{graph};
    int fixed_near = 0;
    int fixed_far = 0;
    if (anybody_fixed_) {
      const int border = problem_.tree.objects()[at(far.front())].first;
      for (const int element : elements) {
        const int slot = problem_.fixed[at(element)];
        const bool is_near = slot != no_slot && slot < border;
        const bool is_far = slot != no_slot && !is_near;
        request.fixed.push_back(static_cast<signed char>(is_near ? 0 : is_far ? 1 : any_side));
        fixed_near += is_near ? 1 : 0;
        fixed_far += is_far ? 1 : 0;
      }
    }
    const int all = graph.size();
    request.least = std::max(all - slots_of(far), fixed_near);
    request.most = std::min(slots_of(near), all - fixed_far);
    return request;
  }

  const MappingProblem& problem_;
  PartitionEffort effort_;
  Mapping mapping_;
  std::vector<int> new_name_;
  bool anybody_fixed_;
  int bisections_ = 0;
};

}  // namespace

Mapping partition(const MappingProblem& problem, const PartitionEffort& effort) {
  return Partitioner(problem, effort).run();
}

}  // namespace huddle::mapping

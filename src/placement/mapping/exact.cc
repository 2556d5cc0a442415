// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/method.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/arithmetic.h"

namespace huddle::mapping {
namespace {

// Branch and bound over all placements, one element after the other. Among identical objects that
// are still empty only the first is tried: the others give equivalent placements.
class Search {
 public:
  explicit Search(const MappingProblem& problem)
      : problem_(problem),
        twin_before_(problem.tree.objects().size(), -1),
        inside_(problem.tree.objects().size(), 0),
        mapping_(at(problem.elements()), no_slot),
        taken_(at(problem.tree.size()), 0) {
    find_twins();
    for (int v = 0; v < problem.elements(); ++v) {
      if (problem.fixed[at(v)] != no_slot) order_.push_back(v);
    }
    for (int v = 0; v < problem.elements(); ++v) {
      if (problem.fixed[at(v)] == no_slot) order_.push_back(v);
    }
  }

  // Returns the number of placements, or nothing if there are more than `most`.
  std::optional<long long> count(long long most) {
    long long found = 0;
    const bool whole = visit(
        0, 0.0, [](double) { return true; }, [&](double) { return ++found <= most; });
    return whole ? std::optional(found) : std::nullopt;
  }

  Mapping best(Mapping start) {
    double best_ns = predicted_time(problem_, start).ns();
    costs_ = true;
    visit(
        0, 0.0, [&](double ns) { return ns < best_ns; },
        [&](double ns) {
          if (problem_.memory != nullptr) ns += problem_.memory->ns(mapping_);
          if (ns < best_ns) start = mapping_;
          best_ns = std::min(best_ns, ns);
          return true;
        });
    return start;
  }

 private:
  // Finds for each object the nearest earlier sibling of the same shape, regardless of fixed
  // elements.
  void find_twins() {
    const bool pages_stay = problem_.memory != nullptr && problem_.memory->pages_stay();
    if (!problem_.tree.is_regular() || pages_stay) return;
    const auto& objects = problem_.tree.objects();
    for (const Object& object : objects) {
      for (std::size_t c = 1; c < object.children.size(); ++c) {
        for (std::size_t before = c; before-- > 0;) {
          if (!problem_.tree.alike(object.children[before], object.children[c])) continue;
          twin_before_[at(object.children[c])] = object.children[before];
          break;
        }
      }
    }
  }
  // Returns false if done() stopped the search.
  template <typename Promising, typename Done>
  bool visit(std::size_t depth, double cost, const Promising& promising, const Done& done) {
    if (depth == order_.size()) return done(cost);
    return descend(0, depth, cost, promising, done);
  }

  template <typename Promising, typename Done>
  bool descend(int number, std::size_t depth, double cost, const Promising& promising,
               const Done& done) {
    const Object& object = problem_.tree.objects()[at(number)];
    const int element = order_[depth];
    const int fixed = problem_.fixed[at(element)];
    ++inside_[at(number)];
    bool goes_on = true;
    if (object.is_leaf()) {
      if (taken_[at(object.first)] == 0) {
        const double more = costs_ ? price(element, object.first) : 0;
        if (promising(cost + more)) {
          taken_[at(object.first)] = 1;
          mapping_[at(element)] = object.first;
          goes_on = visit(depth + 1, cost + more, promising, done);
          mapping_[at(element)] = no_slot;
          taken_[at(object.first)] = 0;
        }
      }
    } else {
      for (const int child : object.children) {
        const Object& below = problem_.tree.objects()[at(child)];
        if (fixed != no_slot) {
          if (fixed < below.first || fixed >= below.last) continue;
        } else if (inside_[at(child)] == below.slots() || is_repetition(child)) {
          continue;
        }
        goes_on = descend(child, depth, cost, promising, done);
        if (!goes_on) break;
      }
    }
    --inside_[at(number)];
    return goes_on;
  }
  bool is_repetition(int child) const {
    const int twin = twin_before_[at(child)];
    return inside_[at(child)] == 0 && twin >= 0 && inside_[at(twin)] == 0;
  }

  // Returns the cost of this element's communication with the elements that are placed already.
  double price(int element, int slot) const {
    const Graph::Row row = problem_.graph.row(element);
    double sum = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int there = mapping_[at(row.neighbours[i])];
      if (there != no_slot) sum += row.bytes[i] * problem_.tree.ns(slot, there);
    }
    return sum * problem_.lines_per_byte;
  }

  const MappingProblem& problem_;
  std::vector<int> twin_before_;
  std::vector<int> inside_;  // by object: number of elements in it
  std::vector<int> order_;   // order in which elements are placed: fixed ones first
  Mapping mapping_;
  std::vector<char> taken_;
  bool costs_ = false;
};

}  // namespace

std::optional<long long> count_placements(const MappingProblem& problem, long long most) {
  if (problem.elements() > most_exact_elements) return std::nullopt;
  return Search(problem).count(most);
}

Mapping exact(const MappingProblem& problem, Mapping best) {
  return Search(problem).best(std::move(best));
}

}  // namespace huddle::mapping

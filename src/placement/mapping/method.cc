// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "placement/mapping/method.h"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/arithmetic.h"
#include "common/error.h"
#include "common/text.h"
#include "placement/mapping/random.h"

namespace huddle::mapping {
namespace {

std::vector<int> all_slots(const MappingProblem& problem) {
  std::vector<int> slots(static_cast<std::size_t>(problem.tree.size()));
  std::iota(slots.begin(), slots.end(), 0);
  return slots;
}

// Gives the free slots, in this order, to the elements that are not fixed, in the order of
// `elements`.
Mapping seated(const MappingProblem& problem, const std::vector<int>& order,
               const std::vector<int>& elements) {
  std::vector<char> taken(order.size(), 0);
  for (const int slot : problem.fixed) {
    if (slot != no_slot) taken[static_cast<std::size_t>(slot)] = 1;
  }
  Mapping mapping = problem.fixed;
  std::size_t next = 0;
  for (const int element : elements) {
    int& slot = mapping[at(element)];
    if (slot != no_slot) continue;
    while (taken[static_cast<std::size_t>(order[next])] != 0) ++next;
    slot = order[next++];
  }
  return mapping;
}

Mapping seated(const MappingProblem& problem, const std::vector<int>& order) {
  std::vector<int> elements(at(problem.elements()));
  std::iota(elements.begin(), elements.end(), 0);
  return seated(problem, order, elements);
}

// Returns the slots below an object, one from each child in turn.
std::vector<int> in_turns(const SlotTree& tree, int number) {
  const Object& object = tree.objects()[static_cast<std::size_t>(number)];
  if (object.is_leaf()) return {object.first};
  std::vector<std::vector<int>> below;
  for (const int child : object.children) below.push_back(in_turns(tree, child));
  std::vector<int> slots;
  for (std::size_t turn = 0; slots.size() < static_cast<std::size_t>(object.slots()); ++turn) {
    for (const std::vector<int>& one : below) {
      if (turn < one.size()) slots.push_back(one[turn]);
    }
  }
  return slots;
}

// Returns the slots ordered by node and OS index.
std::vector<int> by_number(const MappingProblem& problem) {
  std::vector<int> order = all_slots(problem);
  std::sort(order.begin(), order.end(), [&problem](int a, int b) {
    const Slot& one = problem.tree.slots()[static_cast<std::size_t>(a)];
    const Slot& other = problem.tree.slots()[static_cast<std::size_t>(b)];
    return std::pair(one.node, one.pu) < std::pair(other.node, other.pu);
  });
  return order;
}

}  // namespace

Mapping in_order(const MappingProblem& problem) { return seated(problem, by_number(problem)); }

std::optional<Mapping> on_nodes(const MappingProblem& problem, std::span<const int> node_of) {
  std::vector<std::vector<int>> free(static_cast<std::size_t>(problem.tree.nodes()));
  for (const int slot : by_number(problem)) {
    if (std::find(problem.fixed.begin(), problem.fixed.end(), slot) != problem.fixed.end())
      continue;
    free[static_cast<std::size_t>(problem.tree.slots()[static_cast<std::size_t>(slot)].node)]
        .push_back(slot);
  }
  std::vector<std::size_t> next(free.size(), 0);
  Mapping mapping = problem.fixed;
  for (std::size_t element = 0; element < mapping.size(); ++element) {
    if (mapping[element] != no_slot) continue;
    const auto node = static_cast<std::size_t>(node_of[element]);
    if (next[node] == free[node].size()) return std::nullopt;
    mapping[element] = free[node][next[node]++];
  }
  return mapping;
}

Mapping compact(const MappingProblem& problem) { return seated(problem, all_slots(problem)); }

Mapping scatter(const MappingProblem& problem) {
  return seated(problem, in_turns(problem.tree, 0));
}

Mapping at_random(const MappingProblem& problem) {
  std::vector<int> order = all_slots(problem);
  Random random(problem.seed);
  random.shuffle(order);
  return seated(problem, order);
}

namespace {

// Keeps the cheapest of the placements that are offered.
class Best {
 public:
  Best(const MappingProblem& problem, MappingResult first)
      : problem_(problem),
        best_(std::move(first)),
        cost_(predicted_time(problem, best_.mapping).ns()) {}
  void offer(MappingResult other) {
    const double cost = predicted_time(problem_, other.mapping).ns();
    if (!(cost < cost_)) return;
    best_ = std::move(other);
    cost_ = cost;
  }
  double cost() const { return cost_; }
  MappingResult take() { return std::move(best_); }

 private:
  const MappingProblem& problem_;
  MappingResult best_;
  double cost_;
};

// Adds starts in which at most 1, 2, 4, ... elements share a path to memory. Each group gets
// elements that are next to each other in the first start, and groups are as far apart as possible.
void add_spread(const MappingProblem& problem, std::vector<MappingResult>& starts) {
  const std::vector<int> order = in_turns(problem.tree, 0);
  const std::vector<int>& group_of = problem.memory->innermost_groups();
  std::map<int, std::vector<int>> slots_of_group;
  for (int slot = 0; slot < problem.tree.size(); ++slot) {
    slots_of_group[group_of[at(slot)]].push_back(slot);
  }
  std::vector<int> elements;
  for (const int element : occupants(problem, starts.front().mapping)) {
    if (element >= 0) elements.push_back(element);
  }
  for (std::size_t most = 1; most < 2 * at(problem.elements()); most *= 2) {
    std::vector<int> slots;
    std::vector<char> taken(order.size(), 0);
    std::set<int> begun;
    for (const int slot : order) {
      const int group = group_of[at(slot)];
      if (!begun.insert(group).second) continue;
      const std::vector<int>& members = slots_of_group[group];
      for (std::size_t i = 0; i < std::min(most, members.size()); ++i) {
        slots.push_back(members[i]);
        taken[at(members[i])] = 1;
      }
    }
    for (const int slot : order) {
      if (taken[at(slot)] == 0) slots.push_back(slot);
    }
    starts.push_back(
        {seated(problem, slots, elements), fmt::format("at most {} per path to memory", most)});
  }
}

constexpr std::string_view best_of_all = "the best of all placements";

MappingResult exact_mapping(const MappingProblem& problem) {
  if (!count_placements(problem, most_placements)) {
    throw UsageError(
        fmt::format("exact tries every placement, but here there are more than {}; use the method "
                    "tree, or fix some elements",
                    most_placements));
  }
  const Mapping best = exact(problem, tree_mapping(problem).mapping);
  return {staying(problem, best), std::string(best_of_all)};
}

}  // namespace

Method method_named(std::string_view name) {
  const auto found = std::find(method_names.begin(), method_names.end(), name);
  if (found != method_names.end()) return static_cast<Method>(found - method_names.begin());
  const std::vector<std::string> names(method_names.begin(), method_names.end());
  throw UsageError(
      fmt::format("unknown method '{}'{}", printable(name), did_you_mean(name, names)));
}

MappingResult tree_mapping(const MappingProblem& problem) {
  Best best(problem, {problem.present, "current placement: no better one was found"});
  if (best.cost() == 0) return best.take();
  // Trying so few placements is as fast as any other method.
  constexpr long long a_few = 400;
  constexpr int a_few_elements = 8;
  if (problem.elements() <= a_few_elements && count_placements(problem, a_few)) {
    Best start(problem, {problem.present, ""});
    start.offer({lh(problem), ""});
    const Mapping all = exact(problem, start.take().mapping);
    best.offer({staying(problem, all), std::string(best_of_all)});
    return best.take();
  }
  std::vector<MappingResult> starts = {
      {partition(problem, {2, problem.seed}),
       "multilevel bisection from the whole machine inwards"},
      {lh(problem), "groups formed from the innermost level outwards (lh)"},
      {problem.present, "current placement"}};
  if (problem.memory != nullptr) add_spread(problem, starts);
  std::vector<double> costs;
  for (const MappingResult& start : starts) {
    costs.push_back(predicted_time(problem, start.mapping).ns());
  }
  const double least = *std::min_element(costs.begin(), costs.end());
  // Refinement rarely gains more than this factor, unless it takes streaming elements apart.
  const double within_reach =
      problem.memory == nullptr ? 1.1 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    best.offer(starts[i]);
    // Starts with equal costs usually differ only by an exchange of identical objects.
    const bool seen = std::find(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(i),
                                costs[i]) != costs.begin() + static_cast<std::ptrdiff_t>(i);
    if (seen || costs[i] > within_reach * least) continue;
    best.offer({refine(problem, starts[i].mapping), starts[i].how + ", then moves and swaps"});
  }
  MappingResult found = best.take();
  Mapping nearer = staying(problem, found.mapping);
  const bool pages_stay = problem.memory != nullptr && problem.memory->pages_stay();
  const auto ns_of = [&](const Mapping& mapping) { return predicted_time(problem, mapping).ns(); };
  // With pages that stay, identical objects are at different distances from them.
  if (!pages_stay || ns_of(nearer) <= ns_of(found.mapping)) found.mapping = std::move(nearer);
  return found;
}

MappingResult map_by(const MappingProblem& problem, const MethodOptions& options) {
  switch (options.method) {
    case Method::order:
      return {in_order(problem), "by number, on hardware threads by number"};
    case Method::compact:
      return {compact(problem), "by number, neighbouring hardware threads first"};
    case Method::scatter:
      return {scatter(problem), "by number, each as far from the previous one as possible"};
    case Method::random:
      return {at_random(problem), "at random"};
    case Method::lh:
      return options.as_printed
                 ? MappingResult{lh(problem, Spread::evenly), "lh as published: spread evenly"}
                 : MappingResult{lh(problem), "groups formed from the innermost level outwards"};
    case Method::tree:
      return tree_mapping(problem);
    case Method::exact:
      return exact_mapping(problem);
  }
  return {problem.present, ""};
}

}  // namespace huddle::mapping

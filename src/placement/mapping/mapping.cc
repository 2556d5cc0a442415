// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace huddle::mapping {
namespace {

// Calls visit(slot, slot, bytes) for each pair that communicates.
template <typename Visit>
void for_each_pair(const MappingProblem& problem, const Mapping& mapping, const Visit& visit) {
  for (int v = 0; v < problem.elements(); ++v) {
    const Graph::Row row = problem.graph.row(v);
    const int here = mapping[static_cast<std::size_t>(v)];
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int other = row.neighbours[i];
      if (other > v) visit(here, mapping[static_cast<std::size_t>(other)], row.bytes[i]);
    }
  }
}

// Returns by level and slot the child object, at that level, that contains the slot.
std::vector<std::vector<int>> branches(const SlotTree& tree) {
  std::vector<std::vector<int>> branch(tree.levels().size(),
                                       std::vector<int>(static_cast<std::size_t>(tree.size()), 0));
  for (const Object& object : tree.objects()) {
    for (const int child : object.children) {
      const Object& below = tree.objects()[static_cast<std::size_t>(child)];
      std::fill(branch[static_cast<std::size_t>(object.level)].begin() + below.first,
                branch[static_cast<std::size_t>(object.level)].begin() + below.last, child);
    }
  }
  return branch;
}

}  // namespace

double hop_bytes(const MappingProblem& problem, const Mapping& mapping) {
  double sum = 0;
  for_each_pair(problem, mapping,
                [&](int a, int b, double bytes) { sum += bytes * problem.tree.ns(a, b); });
  return sum;
}

namespace {

PredictedTime time_of(const MappingProblem& problem, const Mapping& mapping, double hop_bytes) {
  return {hop_bytes * problem.lines_per_byte,
          problem.memory == nullptr ? 0 : problem.memory->ns(mapping)};
}

}  // namespace

PredictedTime predicted_time(const MappingProblem& problem, const Mapping& mapping) {
  return time_of(problem, mapping, hop_bytes(problem, mapping));
}

namespace {

// Bytes between two branches of an object, by level. The bytes between one element and each branch
// are summed first, so that dense matrices do not need a look-up per pair.
class Loads {
 public:
  explicit Loads(const SlotTree& tree)
      : tree_(tree),
        branch_(branches(tree)),
        loads_(tree.levels().size()),
        to_branch_(tree.objects().size(), 0) {}

  void add(int here, int there, double bytes) {
    const int level = tree_.level(here, there);
    const int branch = branch_[static_cast<std::size_t>(level)][static_cast<std::size_t>(there)];
    double& sum = to_branch_[static_cast<std::size_t>(branch)];
    if (sum == 0) touched_.emplace_back(level, branch);
    sum += bytes;
  }
  // Call after all pairs of the element on slot `here` have been added.
  void finish(int here) {
    for (const auto& [level, branch] : touched_) {
      const auto l = static_cast<std::size_t>(level);
      const int own = branch_[l][static_cast<std::size_t>(here)];
      double& sum = to_branch_[static_cast<std::size_t>(branch)];
      loads_[l][std::minmax(own, branch)] += sum;
      sum = 0;
    }
    touched_.clear();
  }
  double largest(std::size_t level) const {
    double most = 0;
    for (const auto& [pair, bytes] : loads_[level]) most = std::max(most, bytes);
    return most;
  }

 private:
  const SlotTree& tree_;
  std::vector<std::vector<int>> branch_;
  std::vector<std::map<std::pair<int, int>, double>> loads_;
  std::vector<double> to_branch_;  // by object: bytes between the current element and it
  std::vector<std::pair<int, int>> touched_;
};

}  // namespace

Quality quality_of(const MappingProblem& problem, const Mapping& mapping) {
  const SlotTree& tree = problem.tree;
  const std::size_t levels = tree.levels().size();
  Quality quality;
  quality.share_of_level.assign(levels, 0);
  Loads loads(tree);
  double all_bytes = 0;
  int last = no_slot;
  for_each_pair(problem, mapping, [&](int a, int b, double bytes) {
    if (a != last) loads.finish(last);
    last = a;
    const double ns = tree.ns(a, b);
    quality.hop_bytes += bytes * ns;
    quality.accuracy += bytes / ns;
    quality.share_of_level[static_cast<std::size_t>(tree.level(a, b))] += bytes;
    all_bytes += bytes;
    loads.add(a, b, bytes);
  });
  loads.finish(last);
  for (std::size_t level = 0; level < levels; ++level) {
    if (all_bytes > 0) quality.share_of_level[level] /= all_bytes;
    quality.largest_load.push_back(loads.largest(level));
  }
  for (std::size_t v = 0; v < mapping.size(); ++v) {
    if (mapping[v] != problem.present[v]) ++quality.moved;
  }
  quality.time = time_of(problem, mapping, quality.hop_bytes);
  return quality;
}

std::vector<int> occupants(const MappingProblem& problem, const Mapping& mapping) {
  std::vector<int> occupant(static_cast<std::size_t>(problem.tree.size()), -1);
  for (std::size_t v = 0; v < mapping.size(); ++v) {
    occupant[static_cast<std::size_t>(mapping[v])] = static_cast<int>(v);
  }
  return occupant;
}

std::string flaw_of(const MappingProblem& problem, const Mapping& mapping) {
  if (mapping.size() != static_cast<std::size_t>(problem.elements()))
    return "some elements have no place";
  std::vector<int> occupant(static_cast<std::size_t>(problem.tree.size()), -1);
  for (std::size_t v = 0; v < mapping.size(); ++v) {
    if (mapping[v] < 0 || mapping[v] >= problem.tree.size()) {
      return fmt::format("element {} has no place", v);
    }
    int& there = occupant[static_cast<std::size_t>(mapping[v])];
    if (there >= 0) return fmt::format("elements {} and {} have the same place", there, v);
    there = static_cast<int>(v);
    if (problem.fixed[v] != no_slot && problem.fixed[v] != mapping[v]) {
      return fmt::format("element {} is fixed, but has another place", v);
    }
  }
  return "";
}

}  // namespace huddle::mapping

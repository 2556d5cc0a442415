// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "place/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace huddle::place {
namespace {

// Calls visit(slot, slot, bytes) for each pair that talks.
template <typename Visit>
void for_each_pair(const Problem& problem, const Mapping& mapping, const Visit& visit) {
  for (int v = 0; v < problem.elements(); ++v) {
    const Graph::Row row = problem.graph.row(v);
    const int here = mapping[static_cast<std::size_t>(v)];
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int other = row.neighbours[i];
      if (other > v) visit(here, mapping[static_cast<std::size_t>(other)], row.bytes[i]);
    }
  }
}

// By slot and level: which child of the object at that level it is in, numbered over all objects.
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

double hop_bytes(const Problem& problem, const Mapping& mapping) {
  double sum = 0;
  for_each_pair(problem, mapping,
                [&](int a, int b, double bytes) { sum += bytes * problem.tree.ns(a, b); });
  return sum;
}

Quality quality_of(const Problem& problem, const Mapping& mapping) {
  const std::size_t levels = problem.tree.levels().size();
  Quality quality;
  quality.share_of_level.assign(levels, 0);
  quality.largest_load.assign(levels, 0);
  const auto branch = branches(problem.tree);
  std::vector<std::map<std::pair<int, int>, double>> loads(levels);
  double all_bytes = 0;
  for_each_pair(problem, mapping, [&](int a, int b, double bytes) {
    const double ns = problem.tree.ns(a, b);
    const auto level = static_cast<std::size_t>(problem.tree.level(a, b));
    quality.hop_bytes += bytes * ns;
    quality.accuracy += bytes / ns;
    quality.share_of_level[level] += bytes;
    all_bytes += bytes;
    const int one = branch[level][static_cast<std::size_t>(a)];
    const int other = branch[level][static_cast<std::size_t>(b)];
    loads[level][std::minmax(one, other)] += bytes;
  });
  for (std::size_t level = 0; level < levels; ++level) {
    if (all_bytes > 0) quality.share_of_level[level] /= all_bytes;
    for (const auto& [pair, bytes] : loads[level]) {
      quality.largest_load[level] = std::max(quality.largest_load[level], bytes);
    }
  }
  for (std::size_t v = 0; v < mapping.size(); ++v) {
    if (mapping[v] != problem.present[v]) ++quality.moved;
  }
  return quality;
}

std::vector<int> occupants(const Problem& problem, const Mapping& mapping) {
  std::vector<int> occupant(static_cast<std::size_t>(problem.tree.size()), -1);
  for (std::size_t v = 0; v < mapping.size(); ++v) {
    occupant[static_cast<std::size_t>(mapping[v])] = static_cast<int>(v);
  }
  return occupant;
}

std::string flaw_of(const Problem& problem, const Mapping& mapping) {
  if (mapping.size() != static_cast<std::size_t>(problem.elements())) return "not everybody sits";
  std::vector<int> occupant(static_cast<std::size_t>(problem.tree.size()), -1);
  for (std::size_t v = 0; v < mapping.size(); ++v) {
    if (mapping[v] < 0 || mapping[v] >= problem.tree.size()) {
      return fmt::format("element {} sits on no slot", v);
    }
    int& there = occupant[static_cast<std::size_t>(mapping[v])];
    if (there >= 0) return fmt::format("elements {} and {} sit on one slot", there, v);
    there = static_cast<int>(v);
    if (problem.fixed[v] != no_slot && problem.fixed[v] != mapping[v]) {
      return fmt::format("element {} is fixed, and sits elsewhere", v);
    }
  }
  return "";
}

}  // namespace huddle::place

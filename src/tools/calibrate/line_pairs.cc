// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/line_pairs.h"

#include <algorithm>
#include <set>

#include "model/machine/infer.h"

namespace huddle::calibrate {
namespace {

using machine::Cluster;
using machine::LinePairs;

Pair in_order(int a, int b) { return {std::min(a, b), std::max(a, b)}; }

void set(LinePairs& pairs, std::size_t i, std::size_t j, double ns) {
  const std::size_t n = pairs.pus.size();
  pairs.one_way_ns[i * n + j] = ns;
  pairs.one_way_ns[j * n + i] = ns;
}

LinePairs empty_matrix(std::vector<int> pus) {
  LinePairs pairs;
  std::sort(pus.begin(), pus.end());
  pairs.pus = std::move(pus);
  pairs.one_way_ns.assign(pairs.pus.size() * pairs.pus.size(), 0);
  return pairs;
}

double latency_of_level(const machine::Machine& machine, std::string_view level) {
  const auto found = std::find_if(machine.line.begin(), machine.line.end(),
                                  [level](const auto& cost) { return cost.level == level; });
  return found->one_way_ns;
}

// Pairs of which this is the innermost cluster that holds both.
std::vector<Pair> pairs_across(const Cluster& cluster) {
  std::vector<Pair> across;
  for (const Pair& pair : all_pairs(cluster.cpus.cpus())) {
    const bool inside = std::any_of(
        cluster.children.begin(), cluster.children.end(), [&pair](const Cluster& child) {
          return child.cpus.contains(pair.first) && child.cpus.contains(pair.second);
        });
    if (!inside) across.push_back(pair);
  }
  return across;
}

void collect(const Cluster& cluster, std::vector<std::vector<Pair>>& each) {
  each.push_back(pairs_across(cluster));
  for (const Cluster& child : cluster.children) collect(child, each);
}

// With whom each processor has no line.
std::map<int, std::size_t> missing_of_each(const std::set<int>& pus,
                                           const std::map<Pair, Summary>& lines) {
  std::map<int, std::size_t> missing;
  for (const Pair& pair : all_pairs({pus.begin(), pus.end()})) {
    if (lines.contains(pair)) continue;
    ++missing[pair.first];
    ++missing[pair.second];
  }
  return missing;
}

// One after the other, the worst first, until the rows of all others are complete.
void drop_incomplete(std::set<int>& pus, const std::map<Pair, Summary>& lines) {
  while (true) {
    const auto missing = missing_of_each(pus, lines);
    if (missing.empty()) return;
    const auto worst =
        std::max_element(missing.begin(), missing.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    pus.erase(worst->first);
  }
}

}  // namespace

std::optional<LinePairs> pairs_of(const std::map<Pair, Summary>& lines) {
  std::set<int> pus;
  for (const auto& [pair, summary] : lines) pus.insert({pair.first, pair.second});
  drop_incomplete(pus, lines);
  if (pus.size() < 2) return std::nullopt;
  LinePairs pairs = empty_matrix({pus.begin(), pus.end()});
  for (std::size_t i = 0; i < pairs.pus.size(); ++i) {
    for (std::size_t j = i + 1; j < pairs.pus.size(); ++j) {
      set(pairs, i, j, lines.at({pairs.pus[i], pairs.pus[j]}).median);
    }
  }
  return pairs;
}

std::optional<LinePairs> filled_pairs(const machine::Machine& machine, const std::vector<int>& pus,
                                      const std::map<Pair, Summary>& lines) {
  if (pus.size() < 2) return std::nullopt;
  const machine::GroupIndex index(machine.topology);
  LinePairs pairs = empty_matrix(pus);
  for (std::size_t i = 0; i < pairs.pus.size(); ++i) {
    for (std::size_t j = i + 1; j < pairs.pus.size(); ++j) {
      const int a = pairs.pus[i];
      const int b = pairs.pus[j];
      const auto found = lines.find(in_order(a, b));
      const std::size_t level = index.joining_level(a, b);
      const std::string_view name = level == index.levels()
                                        ? machine::whole_machine
                                        : std::string_view(machine.topology.levels[level].name);
      set(pairs, i, j,
          found != lines.end() ? found->second.median : latency_of_level(machine, name));
    }
  }
  return pairs;
}

std::vector<Pair> pairs_of_clusters(const LinePairs& scanned, std::size_t most) {
  std::vector<std::vector<Pair>> each;
  collect(machine::infer_levels(scanned), each);
  std::erase_if(each, [](const auto& pairs) { return pairs.empty(); });
  if (each.size() > most) each.resize(most);
  std::vector<Pair> chosen;
  for (const auto& pairs : each) {
    const std::size_t count = std::min(pairs.size(), most / each.size());
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(pairs[i * pairs.size() / count]);
  }
  return chosen;
}

}  // namespace huddle::calibrate

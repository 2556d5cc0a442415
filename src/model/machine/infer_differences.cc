// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Says in sentences where inferred levels and the firmware's topology disagree.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/infer.h"

namespace huddle::machine {
namespace {

// A sentence lists this many groups; a person sees the pattern by then.
constexpr std::size_t listed_groups = 8;

// A level as far as the measured cores can tell: groups of at least two of them.
struct SeenLevel {
  std::string name;
  std::vector<CpuSet> groups;
};

bool cross(const CpuSet& a, const CpuSet& b) {
  return a.intersects(b) && !a.contains(b) && !b.contains(a);
}

bool contains(const std::vector<CpuSet>& groups, const CpuSet& group) {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

std::string list(const std::vector<CpuSet>& groups) {
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), listed_groups); ++i) {
    text += (i == 0 ? "" : ", ") + groups[i].text();
  }
  if (groups.size() > listed_groups) {
    text += fmt::format(" and {} more", groups.size() - listed_groups);
  }
  return text;
}

// Levels with the same groups are one, named "l3/numa".
std::vector<SeenLevel> seen_levels(const Topology& topology, const CpuSet& measured) {
  std::vector<SeenLevel> seen;
  for (const Level& level : topology.levels) {
    std::vector<CpuSet> groups;
    for (const CpuSet& group : level.groups) {
      CpuSet part = common(group, measured);
      if (part.count() > 1) groups.push_back(std::move(part));
    }
    if (groups.empty()) continue;
    if (!seen.empty() && seen.back().groups == groups) {
      seen.back().name += "/" + level.name;
    } else {
      seen.push_back({level.name, std::move(groups)});
    }
  }
  return seen;
}

void collect_groups(const Cluster& cluster, std::vector<CpuSet>& groups) {
  for (const Cluster& child : cluster.children) {
    groups.push_back(child.cpus);
    collect_groups(child, groups);
  }
}

class Comparison {
 public:
  Comparison(const Cluster& inferred, const Topology& topology)
      : root_(inferred), levels_(seen_levels(topology, inferred.cpus)) {
    collect_groups(inferred, clusters_);
  }

  std::vector<std::string> run() {
    report_hidden_by_firmware(root_);
    for (const SeenLevel& level : levels_) {
      report_cut_across(level);
      report_without_effect(level);
    }
    return std::move(sentences_);
  }

 private:
  std::string name_of(const CpuSet& cores) const {
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      if (contains(level->groups, cores)) return level->name + " " + cores.text();
    }
    return cores == root_.cpus ? "the machine" : "cores " + cores.text();
  }

  // Neither shown by the firmware nor at odds with it.
  bool hidden_by_firmware(const CpuSet& cluster) const {
    return std::none_of(levels_.begin(), levels_.end(), [&](const SeenLevel& level) {
      return std::any_of(level.groups.begin(), level.groups.end(), [&](const CpuSet& group) {
        return group == cluster || cross(group, cluster);
      });
    });
  }

  void report_hidden_by_firmware(const Cluster& cluster) {
    std::vector<CpuSet> hidden;
    double sum_ns = 0;
    int cores = 0;
    for (const Cluster& child : cluster.children) {
      report_hidden_by_firmware(child);
      if (!hidden_by_firmware(child.cpus)) continue;
      hidden.push_back(child.cpus);
      sum_ns += child.one_way_ns;
      cores += child.cpus.count();
    }
    if (hidden.empty()) return;
    const std::string name = name_of(cluster.cpus);
    const double ratio = cluster.one_way_ns * static_cast<double>(hidden.size()) / sum_ns;
    if (hidden.size() > 1 && cores == cluster.cpus.count()) {
      sentences_.push_back(
          fmt::format("latencies split {} into {} groups ({}) {:.1f} times apart that the firmware "
                      "does not show",
                      name, hidden.size(), list(hidden), ratio));
    } else {
      sentences_.push_back(fmt::format(
          "latencies show {} in {} ({}) {:.1f} times nearer than the rest that the firmware does "
          "not show",
          hidden.size() == 1 ? "a group" : fmt::format("{} groups", hidden.size()), name,
          list(hidden), ratio));
    }
  }

  void report_cut_across(const SeenLevel& level) {
    std::vector<CpuSet> groups;
    std::copy_if(level.groups.begin(), level.groups.end(), std::back_inserter(groups),
                 [&](const CpuSet& group) { return crosses_any(group); });
    if (groups.empty()) return;
    std::vector<CpuSet> clusters;
    std::copy_if(clusters_.begin(), clusters_.end(), std::back_inserter(clusters),
                 [&](const CpuSet& cluster) {
                   return std::any_of(groups.begin(), groups.end(),
                                      [&](const CpuSet& group) { return cross(cluster, group); });
                 });
    sentences_.push_back(
        fmt::format("the firmware's {} groups ({}) cut across the groups that latencies show ({})",
                    level.name, list(groups), list(clusters)));
  }

  bool crosses_any(const CpuSet& group) const {
    return std::any_of(clusters_.begin(), clusters_.end(),
                       [&](const CpuSet& cluster) { return cross(cluster, group); });
  }

  void report_without_effect(const SeenLevel& level) {
    std::vector<CpuSet> groups;
    for (const CpuSet& group : level.groups) {
      if (group == root_.cpus || contains(clusters_, group) || crosses_any(group)) continue;
      groups.push_back(group);
    }
    if (groups.empty()) return;
    sentences_.push_back(fmt::format(
        "cores of one {} ({}) are no nearer to each other than to their neighbours outside it, "
        "which is common",
        level.name, list(groups)));
  }

  const Cluster& root_;
  std::vector<SeenLevel> levels_;
  std::vector<CpuSet> clusters_;  // without the machine
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> differences(const Cluster& inferred, const Topology& topology) {
  if (inferred.cpus.count() < 2) return {};
  return Comparison(inferred, topology).run();
}

}  // namespace huddle::machine

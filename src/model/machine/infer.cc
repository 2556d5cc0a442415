// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "model/machine/infer.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "common/arithmetic.h"
#include "common/error.h"
#include "model/machine/infer_linkage.h"

namespace huddle::machine {
namespace {

// For normally distributed samples: the ratio of the standard error of the mean of the middle half
// to that of the mean of all, and the distance of the quartiles in standard deviations.
constexpr double midmean_error = 1.09;
constexpr double quartile_distance = 1.349;

struct Estimate {
  double one_way_ns = 0;
  double error = 0;  // relative standard error
};

// Returns the mean of the middle half: as robust as the median if fewer than a quarter of the
// samples are outliers, and a seventh less noisy.
Estimate estimate_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t quarter = samples.size() / 4;
  const auto first = samples.begin() + static_cast<std::ptrdiff_t>(quarter);
  const auto last = samples.end() - static_cast<std::ptrdiff_t>(quarter);
  const double middle = std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
  const double spread = (*(last - 1) - *first) / quartile_distance / middle;
  return {middle, midmean_error * spread / std::sqrt(static_cast<double>(samples.size()))};
}

using CorePair = std::pair<int, int>;

void require_latency(double one_way_ns, int a, int b) {
  if (std::isfinite(one_way_ns) && one_way_ns > 0) return;
  throw InputError(fmt::format("the latency between cores {} and {} is {}, which is impossible", a,
                               b, one_way_ns));
}

std::map<CorePair, std::vector<double>> samples_by_pair(std::span<const PairSamples> samples) {
  std::map<CorePair, std::vector<double>> by_pair;
  for (const PairSamples& pair : samples) {
    if (pair.a == pair.b) {
      throw InputError(fmt::format("core {} is paired with itself", pair.a));
    }
    for (const double sample : pair.one_way_ns) require_latency(sample, pair.a, pair.b);
    std::vector<double>& all = by_pair[std::minmax(pair.a, pair.b)];
    all.insert(all.end(), pair.one_way_ns.begin(), pair.one_way_ns.end());
  }
  return by_pair;
}

CpuSet cores_of(const std::map<CorePair, std::vector<double>>& by_pair) {
  std::vector<int> cores;
  for (const auto& [pair, samples] : by_pair) {
    cores.push_back(pair.first);
    cores.push_back(pair.second);
  }
  return CpuSet(std::move(cores));
}

Cluster to_cluster(const Step& step, const std::vector<int>& cores) {
  Cluster cluster;
  cluster.one_way_ns = std::exp(step.log_latency);
  std::vector<int> cpus;
  for (const std::size_t core : step.cores) cpus.push_back(cores[core]);
  for (const Step& part : step.parts) {
    Cluster child = to_cluster(part, cores);
    cpus.insert(cpus.end(), child.cpus.begin(), child.cpus.end());
    cluster.children.push_back(std::move(child));
  }
  cluster.cpus = CpuSet(std::move(cpus));
  std::sort(cluster.children.begin(), cluster.children.end(),
            [](const Cluster& a, const Cluster& b) { return a.cpus.first() < b.cpus.first(); });
  return cluster;
}

Cluster cluster_of(const LogLatencies& latencies, const std::vector<int>& cores,
                   double sampling_noise) {
  if (cores.size() < 2) return Cluster{CpuSet(cores), 0, {}};
  return to_cluster(collapse(join_nearest(latencies), sampling_noise), cores);
}

// Adds the cluster and its descendants to `by_height` and returns its height: 1 without children.
std::size_t collect_levels(const Cluster& cluster, std::vector<std::vector<CpuSet>>& by_height) {
  std::size_t height = 1;
  for (const Cluster& child : cluster.children) {
    height = std::max(height, 1 + collect_levels(child, by_height));
  }
  if (by_height.size() < height) by_height.resize(height);
  by_height[height - 1].push_back(cluster.cpus);
  return height;
}

}  // namespace

Cluster infer_levels(std::span<const PairSamples> samples) {
  const std::map<CorePair, std::vector<double>> by_pair = samples_by_pair(samples);
  const std::vector<int> cores = cores_of(by_pair).cpus();
  LogLatencies latencies(cores.size());
  std::vector<double> errors;
  for (std::size_t a = 0; a < cores.size(); ++a) {
    for (std::size_t b = a + 1; b < cores.size(); ++b) {
      const auto found = by_pair.find({cores[a], cores[b]});
      if (found == by_pair.end() || found->second.empty()) {
        throw InputError(
            fmt::format("the latencies between cores {} and {} are missing; levels require every "
                        "pair to be measured",
                        cores[a], cores[b]));
      }
      const Estimate estimate = estimate_of(found->second);
      latencies.set(a, b, std::log(estimate.one_way_ns));
      errors.push_back(estimate.error);
    }
  }
  return cluster_of(latencies, cores, errors.empty() ? 0 : median_of(errors));
}

Cluster infer_levels(const LinePairs& pairs) {
  const std::size_t cores = pairs.pus.size();
  if (pairs.one_way_ns.size() != cores * cores) {
    throw InputError(fmt::format("{} cores require {} latencies, but there are {}", cores,
                                 cores * cores, pairs.one_way_ns.size()));
  }
  LogLatencies latencies(cores);
  for (std::size_t a = 0; a < cores; ++a) {
    for (std::size_t b = a + 1; b < cores; ++b) {
      const double one_way_ns = pairs.one_way_ns[a * cores + b];
      require_latency(one_way_ns, pairs.pus[a], pairs.pus[b]);
      latencies.set(a, b, std::log(one_way_ns));
    }
  }
  return cluster_of(latencies, pairs.pus, 0);
}

int depth(const Cluster& cluster) {
  if (cluster.cpus.count() < 2) return 0;
  int deepest = 0;
  for (const Cluster& child : cluster.children) deepest = std::max(deepest, depth(child));
  return deepest + 1;
}

std::vector<Level> as_levels(const Cluster& cluster) {
  std::vector<std::vector<CpuSet>> by_height;
  for (const Cluster& child : cluster.children) collect_levels(child, by_height);
  std::vector<Level> levels;
  for (std::vector<CpuSet>& groups : by_height) {
    std::sort(groups.begin(), groups.end(),
              [](const CpuSet& a, const CpuSet& b) { return a.first() < b.first(); });
    levels.push_back(
        {fmt::format("{}{}", inferred_prefix, levels.size() + 1), std::move(groups), {}});
  }
  return levels;
}

namespace {

// Maximum number of groups that a sentence lists; enough to recognize the pattern.
constexpr std::size_t listed_groups = 8;

// A level restricted to the measured cores: groups of at least two of them.
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

// Returns the levels of the measured cores. Levels with equal groups are merged as "l3/numa".
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

  // Returns whether the firmware neither shows the cluster nor contradicts it.
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
          fmt::format("latencies divide {} into {} groups ({}) that differ by a factor of {:.1f}, "
                      "which the firmware does not report",
                      name, hidden.size(), list(hidden), ratio));
    } else {
      sentences_.push_back(
          fmt::format("latencies show {} in {} ({}) that are closer than the others by a factor of "
                      "{:.1f}, which the firmware does not report",
                      hidden.size() == 1 ? "a group" : fmt::format("{} groups", hidden.size()),
                      name, list(hidden), ratio));
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
        fmt::format("the firmware's {} groups ({}) contradict the groups by latency ({})",
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
    sentences_.push_back(
        fmt::format("cores of one {} ({}) are no closer to each other than to other neighbours, "
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

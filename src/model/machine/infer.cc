// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "common/error.h"
#include "common/median.h"
#include "model/machine/infer_collapse.h"
#include "model/machine/infer_linkage.h"

namespace huddle::machine {
namespace {

// The mean of the middle half of n normal samples is so much less certain than the mean of all; the
// quartiles lie so many standard deviations apart.
constexpr double midmean_error = 1.09;
constexpr double quartile_distance = 1.349;

struct Estimate {
  double one_way_ns = 0;
  double error = 0;  // relative standard error
};

// The mean of the middle half: as deaf to outliers as the median where they are fewer than a
// quarter, and a seventh less noisy.
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
  throw InputError(
      fmt::format("the latency between cores {} and {} is {}, which cannot be", a, b, one_way_ns));
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

// Files the cluster under its height and returns that: 1 where it has no children.
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
        throw InputError(fmt::format(
            "there are no latencies between cores {} and {}; levels need every pair measured",
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
    throw InputError(fmt::format("{} cores need {} latencies, there are {}", cores, cores * cores,
                                 pairs.one_way_ns.size()));
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

}  // namespace huddle::machine

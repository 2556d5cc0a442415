// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Simulated machines for the tests of inference: a hidden tree of randomly numbered cores, and the
// noisy samples that a calibration would measure.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "model/machine/infer.h"

namespace huddle::machine {

using Random = std::mt19937_64;

// A group of cores, some of which are in parts that are nearer to each other.
struct Hidden {
  double one_way_ns = 0;
  int lone_cores = 0;
  std::vector<Hidden> parts;
};

// Returns the ratio of a level's latency to that of the next inner one.
using Ratio = std::function<double()>;

inline Ratio exactly(double ratio) {
  return [ratio] { return ratio; };
}

inline Ratio between(double low, double high, Random& random) {
  return [=, &random] { return std::uniform_real_distribution<double>(low, high)(random); };
}

inline Hidden cores(int count, double one_way_ns) { return {one_way_ns, count, {}}; }

// Returns a group of these parts whose latency is `ratio` times the largest of theirs.
inline Hidden around(std::vector<Hidden> parts, const Ratio& ratio, int lone_cores = 0) {
  double furthest = 0;
  for (const Hidden& part : parts) furthest = std::max(furthest, part.one_way_ns);
  return {furthest * ratio(), lone_cores, std::move(parts)};
}

inline int count(const Hidden& hidden) {
  int sum = hidden.lone_cores;
  for (const Hidden& part : hidden.parts) sum += count(part);
  return sum;
}

// Returns the tree that inference must find, with its cores' numbers and hidden latencies.
inline Cluster numbered(const Hidden& hidden, const std::vector<int>& numbers, std::size_t& next) {
  Cluster cluster;
  cluster.one_way_ns = hidden.one_way_ns;
  std::vector<int> cpus;
  for (int i = 0; i < hidden.lone_cores; ++i) cpus.push_back(numbers[next++]);
  for (const Hidden& part : hidden.parts) {
    cluster.children.push_back(numbered(part, numbers, next));
    const CpuSet& child = cluster.children.back().cpus;
    cpus.insert(cpus.end(), child.begin(), child.end());
  }
  cluster.cpus = CpuSet(std::move(cpus));
  std::sort(cluster.children.begin(), cluster.children.end(),
            [](const Cluster& a, const Cluster& b) { return a.cpus.first() < b.cpus.first(); });
  return cluster;
}

inline Cluster in_order(const Hidden& hidden) {
  std::vector<int> numbers(static_cast<std::size_t>(count(hidden)));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::size_t next = 0;
  return numbered(hidden, numbers, next);
}

inline Cluster shuffled(const Hidden& hidden, Random& random) {
  std::vector<int> numbers(static_cast<std::size_t>(count(hidden)));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), random);
  std::size_t next = 0;
  return numbered(hidden, numbers, next);
}

inline double true_latency(const Cluster& cluster, int a, int b) {
  for (const Cluster& child : cluster.children) {
    if (child.cpus.contains(a) && child.cpus.contains(b)) return true_latency(child, a, b);
  }
  return cluster.one_way_ns;
}

enum class Noise { normal, lognormal, uniform };

struct Conditions {
  Noise noise = Noise::normal;
  double noise_level = 0.10;        // standard deviation; half-width of the uniform kind
  double outliers = 0.01;           // share of samples that are 2 to 20 times off
  bool outliers_both_ways = false;  // too fast as well as too slow
  double disturbed_pairs = 0;       // share of pairs with every sample 2 to 20 times too slow
  double pair_variation = 0;        // relative variation between the pairs of one level
  int samples = 32;
};

class Sampler {
 public:
  Sampler(const Conditions& conditions, Random& random)
      : conditions_(conditions), random_(random), to_outlier_(gap()) {}

  PairSamples sample(int a, int b, double one_way_ns) {
    const double disturbance = chance(conditions_.disturbed_pairs) ? times_off() : 1;
    const double level =
        one_way_ns * disturbance * std::exp(conditions_.pair_variation * normal_(random_));
    PairSamples pair{a, b, {}};
    pair.one_way_ns.reserve(static_cast<std::size_t>(conditions_.samples));
    for (int i = 0; i < conditions_.samples; ++i) pair.one_way_ns.push_back(level * factor());
    return pair;
  }

  // Returns samples of all pairs, in arbitrary order and direction.
  std::vector<PairSamples> sample(const std::vector<int>& cpus,
                                  const std::function<double(int, int)>& one_way_ns) {
    std::vector<PairSamples> samples;
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        samples.push_back(sample(cpus[i], cpus[j], one_way_ns(cpus[i], cpus[j])));
      }
    }
    return samples;
  }

  std::vector<PairSamples> sample(const Cluster& machine) {
    return sample(machine.cpus.cpus(),
                  [&machine](int a, int b) { return true_latency(machine, a, b); });
  }

 private:
  bool chance(double share) { return share > 0 && unit_(random_) < share; }
  double times_off() { return 2 + 18 * unit_(random_); }

  // Returns the number of samples until the next outlier, which is cheaper than a draw per sample.
  int gap() {
    if (conditions_.outliers <= 0) return std::numeric_limits<int>::max();
    return std::geometric_distribution<int>(conditions_.outliers)(random_);
  }

  double factor() {
    if (to_outlier_-- > 0) return noise();
    to_outlier_ = gap();
    const double off = times_off();
    return noise() * (conditions_.outliers_both_ways && chance(0.5) ? 1 / off : off);
  }

  double noise() {
    const double level = conditions_.noise_level;
    switch (conditions_.noise) {
      case Noise::normal:
        return std::max(0.05, 1 + level * normal_(random_));
      case Noise::lognormal:
        return std::exp(level * normal_(random_));
      case Noise::uniform:
        return 1 + level * (2 * unit_(random_) - 1);
    }
    return 1;
  }

  Conditions conditions_;
  Random& random_;
  int to_outlier_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> unit_;
};

}  // namespace huddle::machine

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/contention.h"

#include <algorithm>

namespace huddle::machine {
namespace {

struct Sample {
  double copiers;
  double ns;
};

double between(const Sample& low, const Sample& high, double copiers) {
  return low.ns + (high.ns - low.ns) * (copiers - low.copiers) / (high.copiers - low.copiers);
}

// Rising in copiers, falls in time taken out.
std::vector<Sample> monotone_samples(std::vector<CrowdPoint> points, double bytes) {
  std::sort(points.begin(), points.end(),
            [](const CrowdPoint& a, const CrowdPoint& b) { return a.copiers < b.copiers; });
  std::vector<Sample> samples;
  double slowest_ns = 0;
  for (const CrowdPoint& point : points) {
    slowest_ns = std::max(slowest_ns, time_at(*point.curve, bytes));
    samples.push_back({static_cast<double>(point.copiers), slowest_ns});
  }
  return samples;
}

}  // namespace

double crowd_time_ns(std::vector<CrowdPoint> points, double bytes, int copiers) {
  const std::vector<Sample> samples = monotone_samples(std::move(points), bytes);
  if (copiers <= samples.front().copiers) return samples.front().ns;
  const auto above = std::find_if(samples.begin(), samples.end(), [copiers](const Sample& sample) {
    return sample.copiers >= copiers;
  });
  if (above == samples.end()) return samples.back().ns * copiers / samples.back().copiers;
  return between(*(above - 1), *above, copiers);
}

}  // namespace huddle::machine

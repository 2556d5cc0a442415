// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// J. Chen and others: allgathers between nodes, counted from their schedules and simulated.
#include <algorithm>
#include <initializer_list>
#include <limits>

#include "model/fabric/fabric.h"
#include "runtime/schedules/algorithms.h"
#include "runtime/schedules/distance.h"
#include "simulate/network/simulation.h"
#include "tools/reproduce/experiment.h"

namespace huddle::reproduce {
namespace {

using fabric::Cluster;

constexpr double short_block = 8;
constexpr double medium_block = 8192;
constexpr double long_block = 120 * 1024;
// The paper does not state the number of ranks. This power of two needs more than one switch.
constexpr int simulated_ranks = 64;

std::unique_ptr<schedules::Schedule> schedule_of(const std::string& algorithm, int ranks) {
  schedules::Call call;
  call.ranks = ranks;
  return schedules::make_schedule(schedules::algorithm_named("allgather:" + algorithm), call);
}

double distance(const std::string& algorithm, int ranks) {
  return schedules::counted_distance(*schedule_of(algorithm, ranks))->value();
}

// Returns the number of steps of the rank with the most steps.
double steps(const std::string& algorithm, int ranks) {
  const auto schedule = schedule_of(algorithm, ranks);
  std::int64_t most = 0;
  for (int rank = 0; rank < ranks; ++rank) most = std::max(most, schedule->traffic(rank).rounds);
  return static_cast<double>(most);
}

// Returns the simulated time of the fastest algorithm.
double fastest_ns(const Cluster& cluster, std::initializer_list<const char*> algorithms,
                  double block_bytes) {
  const std::vector<int> nodes =
      fabric::place(cluster.fabric, simulated_ranks, fabric::Placement::block, 0);
  double fastest = std::numeric_limits<double>::infinity();
  for (const char* algorithm : algorithms) {
    fastest = std::min(
        fastest,
        network::simulate(cluster, nodes, *schedule_of(algorithm, simulated_ranks), block_bytes)
            .end.ns);
  }
  return fastest;
}

OfFabric logarithmic_first(double block_bytes) {
  return [block_bytes](const Cluster& cluster) {
    return fastest_ns(cluster, {"doubling", "bruck"}, block_bytes) /
           fastest_ns(cluster, {"neighbor", "ring"}, block_bytes);
  };
}

OfFabric neighbor_first(double block_bytes) {
  return [block_bytes](const Cluster& cluster) {
    return fastest_ns(cluster, {"neighbor"}, block_bytes) /
           fastest_ns(cluster, {"ring", "doubling", "bruck"}, block_bytes);
  };
}

OfFabric ring_second(double block_bytes) {
  return [block_bytes](const Cluster& cluster) {
    return fastest_ns(cluster, {"ring"}, block_bytes) /
           fastest_ns(cluster, {"doubling", "bruck"}, block_bytes);
  };
}

OfPaper distance_of(const std::string& algorithm, int ranks) {
  return [algorithm, ranks] { return distance(algorithm, ranks); };
}

OfPaper steps_of(const std::string& algorithm, int ranks) {
  return [algorithm, ranks] { return steps(algorithm, ranks); };
}

OfPaper nearer(const std::string& algorithm, const std::string& other, int ranks) {
  return [algorithm, other, ranks] { return distance(algorithm, ranks) / distance(other, ranks); };
}

}  // namespace

std::vector<Experiment> chen_experiments() {
  std::vector<Experiment> all = {
      {"distance-ring-16", distance_of("ring", 16)},
      {"distance-neighbor-16", distance_of("neighbor", 16)},
      {"distance-neighbor-6", distance_of("neighbor", 6)},
      {"distance-doubling-16", distance_of("doubling", 16)},
      {"distance-bruck-16", distance_of("bruck", 16)},
      {"steps-ring-16", steps_of("ring", 16)},
      {"steps-neighbor-16", steps_of("neighbor", 16)},
      {"steps-neighbor-15", steps_of("neighbor", 15)},
      {"steps-bruck-15", steps_of("bruck", 15)},
      {"ring-nearer-than-doubling", nearer("ring", "doubling", 8)},
      {"doubling-nearer-than-bruck", nearer("doubling", "bruck", 8)},
      {"medium-qsnet", neighbor_first(medium_block)},
      {"medium-qsnet-ring", ring_second(medium_block)},
      {"long-qsnet", neighbor_first(long_block)},
      {"long-qsnet-ring", ring_second(long_block)},
      {"long-deepcomp-ethernet", neighbor_first(long_block)},
      {"long-dawning-ethernet", neighbor_first(long_block)},
      {"long-dawning-by-bruck", OfFabric([](const Cluster& cluster) {
         return fastest_ns(cluster, {"neighbor"}, long_block) /
                fastest_ns(cluster, {"bruck"}, long_block);
       })},
  };
  for (const std::string fabric : {"qsnet", "deepcomp-ethernet", "dawning-ethernet"}) {
    all.push_back({"short-" + fabric, logarithmic_first(short_block)});
  }
  return all;
}

}  // namespace huddle::reproduce

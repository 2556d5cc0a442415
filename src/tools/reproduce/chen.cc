// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// J. Chen and others: allgathers between nodes, counted from their schedules and simulated.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

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
// The paper does not state the number of ranks. Blocks of 8 KB are of medium size for 10 to 64.
constexpr std::array simulated_ranks = {16, 32, 64};

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

using Algorithms = std::vector<const char*>;

std::vector<double> times_ns(const Cluster& cluster, const Algorithms& algorithms, int ranks,
                             double block_bytes) {
  const std::vector<int> nodes = fabric::place(cluster.fabric, ranks, fabric::Placement::block, 0);
  std::vector<double> times;
  for (const char* algorithm : algorithms) {
    times.push_back(
        network::simulate(cluster, nodes, *schedule_of(algorithm, ranks), block_bytes).end.ns);
  }
  return times;
}

// A claim of the paper: the order of the fastest, or of the slowest, of some algorithms and of the
// fastest of others.
struct Claim {
  std::string name;  // of its figures, before the number of ranks
  double block_bytes = 0;
  Algorithms first;
  Algorithms others;
  bool all_first = false;  // each of the first is faster than the others
};

OfFabric order(const Claim& claim, int ranks) {
  return [claim, ranks](const Cluster& cluster) {
    const auto ns = times_ns(cluster, claim.first, ranks, claim.block_bytes);
    const auto others_ns = times_ns(cluster, claim.others, ranks, claim.block_bytes);
    return (claim.all_first ? std::ranges::max(ns) : std::ranges::min(ns)) /
           std::ranges::min(others_ns);
  };
}

std::vector<Claim> claims() {
  return {
      {"short-qsnet", short_block, {"doubling", "bruck"}, {"neighbor", "ring"}, true},
      {"short-deepcomp-ethernet", short_block, {"doubling", "bruck"}, {"neighbor", "ring"}, true},
      {"short-dawning-ethernet", short_block, {"doubling", "bruck"}, {"neighbor", "ring"}, true},
      {"medium-qsnet", medium_block, {"neighbor"}, {"ring", "doubling", "bruck"}},
      {"medium-qsnet-ring", medium_block, {"ring"}, {"doubling", "bruck"}},
      // Each of the others is faster than the neighbor exchange.
      {"medium-deepcomp-ethernet", medium_block, {"ring", "doubling", "bruck"}, {"neighbor"}, true},
      {"medium-dawning-ethernet", medium_block, {"neighbor", "ring"}, {"doubling", "bruck"}, true},
      {"long-qsnet", long_block, {"neighbor"}, {"ring", "doubling", "bruck"}},
      {"long-qsnet-ring", long_block, {"ring"}, {"doubling", "bruck"}},
      {"long-deepcomp-ethernet", long_block, {"neighbor"}, {"ring", "doubling", "bruck"}},
      {"long-dawning-ethernet", long_block, {"neighbor"}, {"ring", "doubling", "bruck"}},
      {"long-dawning-by-bruck", long_block, {"neighbor"}, {"bruck"}},
      {"long-dawning-bruck-second", long_block, {"bruck"}, {"ring", "doubling"}},
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
  };
  for (const Claim& claim : claims()) {
    for (const int ranks : simulated_ranks) {
      all.push_back({fmt::format("{}-{}", claim.name, ranks), order(claim, ranks)});
    }
  }
  return all;
}

}  // namespace huddle::reproduce

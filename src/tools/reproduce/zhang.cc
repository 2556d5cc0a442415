// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// P. Zhang, D. Meng, Z. Huo: barrier, broadcast and all-to-all of one node, by predicted times.
#include <algorithm>

#include "common/arithmetic.h"
#include "runtime/node/barrier_protocols.h"
#include "runtime/node/bcast_protocols.h"
#include "runtime/select/algorithm.h"
#include "runtime/select/choice.h"
#include "simulate/protocols/predict.h"
#include "tools/reproduce/experiment.h"

namespace huddle::reproduce {
namespace {

using machine::Machine;
using node::Release;
using node::Shape;

constexpr double ns_per_us = 1000;

struct Barrier {
  Shape shape;
  Release release;
};
constexpr Barrier two_queues{{Shape::Kind::flat, 1}, Release::own_queue};
constexpr Barrier one_queue{{Shape::Kind::flat, 1}, Release::same_line};
constexpr Barrier three_levels{{Shape::Kind::levels, 1}, Release::same_line};

double barrier_ns(const Machine& machine, const Barrier& barrier) {
  const Seated seated(machine);
  return select::tree_barrier_ns(seated.costs, node::tree(barrier.shape, seated.locality, 0),
                                 {1, barrier.release});
}

double simulated_barrier_ns(const Machine& machine, const Barrier& barrier) {
  const Seated seated(machine);
  return seated.simulated_ns({}, select::team_resources(seated.locality, select::usual_queue_bytes),
                             select::TreeBarrierPlan{barrier.shape, {1, barrier.release}});
}

OfMachine barrier_us(const Barrier& barrier) {
  return [barrier](const Machine& machine) { return barrier_ns(machine, barrier) / ns_per_us; };
}

OfMachine barriers(const Barrier& ours, const Barrier& other) {
  return [ours, other](const Machine& machine) {
    return barrier_ns(machine, ours) / barrier_ns(machine, other);
  };
}

OfMachine simulated_barriers(const Barrier& ours, const Barrier& other) {
  return [ours, other](const Machine& machine) {
    return simulated_barrier_ns(machine, ours) / simulated_barrier_ns(machine, other);
  };
}

// The maximum number of concurrent readers of a segment, and whether segments are on different NUMA
// nodes.
struct Reading {
  int at_once = 1;
  bool is_spread = false;
};
constexpr Reading all_at_once{16, false};
constexpr Reading four_at_once{4, false};
constexpr Reading four_and_placed{4, true};

// Calls ns_of(locality, layout, segment bytes) for each segment size, a power of two, for which all
// segments of a turn have at most half a megabyte. Returns the shortest time.
template <class NsOf>
double with_best_segments(const Seated& seated, const Reading& reading, const NsOf& ns_of) {
  node::RankLocality memories = seated.locality;
  if (!reading.is_spread) memories.memory_of.assign(memories.memory_of.size(), 0);
  double best_ns = 0;
  for (std::size_t segment = node::page_bytes;; segment *= 2) {
    const node::SegmentedBcast layout({reading.at_once, segment}, memories, 0, 0);
    if (segment * static_cast<std::size_t>(layout.segments()) > MiB / 2) break;
    const double ns = ns_of(memories, layout, segment);
    if (segment == node::page_bytes || ns < best_ns) best_ns = ns;
  }
  return best_ns;
}

double bcast_ns(const Machine& machine, const Reading& reading, std::size_t bytes) {
  const Seated seated(machine);
  return with_best_segments(
      seated, reading,
      [&](const node::RankLocality&, const node::SegmentedBcast& layout, std::size_t segment) {
        return select::segmented_bcast_ns(seated.costs, layout, reading.at_once, bytes,
                                          {segment, memory::CopyKernel::plain});
      });
}

double simulated_bcast_ns(const Machine& machine, const Reading& reading, std::size_t bytes) {
  const Seated seated(machine);
  select::TeamResources resources =
      select::team_resources(seated.locality, select::usual_queue_bytes);
  return with_best_segments(
      seated, reading,
      [&](const node::RankLocality& memories, const node::SegmentedBcast&, std::size_t segment) {
        resources.segmented_bcast = {reading.at_once, segment};
        const protocols::Question question{{.operation = select::Operation::bcast, .bytes = bytes},
                                           memories,
                                           resources,
                                           seated.model};
        return protocols::predict(question,
                                  node::SegmentedBcast::Plan{segment, memory::CopyKernel::plain})
            .all_ns();
      });
}

OfMachine bcasts(const Reading& ours, std::size_t bytes) {
  return [ours, bytes](const Machine& machine) {
    return bcast_ns(machine, ours, bytes) / bcast_ns(machine, all_at_once, bytes);
  };
}

OfMachine simulated_bcasts(const Reading& ours, std::size_t bytes) {
  return [ours, bytes](const Machine& machine) {
    return simulated_bcast_ns(machine, ours, bytes) /
           simulated_bcast_ns(machine, all_at_once, bytes);
  };
}

// Returns the predicted time of a pairwise exchange of blocks, tile by tile.
double alltoall_ns(const Seated& seated, std::size_t bytes, std::size_t tile) {
  constexpr int cells = 4;
  return select::pairs_alltoall_ns(seated.costs, cells,
                                   {.operation = select::Operation::alltoall, .bytes = bytes},
                                   {.tile_bytes = tile, .order = node::PairOrder::paired});
}

// Returns the experiment for tiles: the time with the best tile that fits into a core's share of
// the L3 cache, relative to the time without tiles.
OfMachine tiled(std::size_t bytes) {
  return [bytes](const Machine& machine) {
    const Seated seated(machine);
    const machine::Level& cache = *machine::find_level(machine.topology, "l3");
    const std::size_t largest = static_cast<std::size_t>(cache.bytes.front()) /
                                static_cast<std::size_t>(cache.groups.front().count());
    const double whole_ns = alltoall_ns(seated, bytes, bytes);
    double best_ns = whole_ns;
    for (const std::size_t tile : select::piece_sizes(bytes, largest)) {
      best_ns = std::min(best_ns, alltoall_ns(seated, bytes, tile));
    }
    return best_ns / whole_ns;
  };
}

// Returns the predicted time of an all-to-all of four ranks on these hardware threads.
double four_ranks_ns(const Machine& machine, const std::vector<int>& pus, std::size_t bytes) {
  const Seated seated(machine, pus);
  const auto resources =
      select::team_resources(seated.locality, seated.model, select::usual_queue_bytes);
  const select::Request request =
      select::request_of(select::Operation::alltoall, bytes, static_cast<int>(pus.size()));
  return select::choose(request, seated.locality, seated.model, resources)->usual.ns;
}

double simulated_four_ranks_ns(const Machine& machine, const std::vector<int>& pus,
                               std::size_t bytes) {
  const Seated seated(machine, pus);
  const auto resources =
      select::team_resources(seated.locality, seated.model, select::usual_queue_bytes);
  const select::Request request =
      select::request_of(select::Operation::alltoall, bytes, static_cast<int>(pus.size()));
  return seated.simulated_ns(
      request, resources,
      select::choose(request, seated.locality, seated.model, resources)->usual.plan);
}

const std::vector<int> on_one_socket = {0, 1, 2, 3};
const std::vector<int> on_four_sockets = {0, 4, 8, 12};

// Returns the time of a copy whose source and target together have `set_bytes` bytes, while this
// number of processes of one socket copy at the same time.
double working_set_ns(const Machine& machine, std::size_t set_bytes, int processes) {
  const machine::CostModel model(machine);
  return model.copy_ns({.bytes = static_cast<double>(set_bytes) / 2,
                        .copier = 0,
                        .peer = 0,
                        .others = processes - 1,
                        .others_share = "l3"});
}

OfMachine working_sets(std::size_t bytes, int few, int many) {
  return [bytes, few, many](const Machine& machine) {
    return working_set_ns(machine, bytes, few) / working_set_ns(machine, bytes, many);
  };
}

}  // namespace

std::vector<Experiment> zhang_experiments() {
  return {
      {"barrier-two-queues-time", barrier_us(two_queues)},
      {"barrier-one-queue-time", barrier_us(one_queue)},
      {"barrier-levels-time", barrier_us(three_levels)},
      {"barrier-one-queue", barriers(one_queue, two_queues),
       simulated_barriers(one_queue, two_queues)},
      {"barrier-levels", barriers(three_levels, one_queue),
       simulated_barriers(three_levels, one_queue)},
      {"bcast-four-512k", bcasts(four_at_once, 512 * KiB),
       simulated_bcasts(four_at_once, 512 * KiB)},
      {"bcast-four-16m", bcasts(four_at_once, 16 * MiB), simulated_bcasts(four_at_once, 16 * MiB)},
      {"bcast-placed-128k", bcasts(four_and_placed, 128 * KiB),
       simulated_bcasts(four_and_placed, 128 * KiB)},
      {"bcast-placed-16m", bcasts(four_and_placed, 16 * MiB),
       simulated_bcasts(four_and_placed, 16 * MiB)},
      {"bcast-placed-16m-time", OfMachine([](const Machine& machine) {
         return bcast_ns(machine, four_and_placed, 16 * MiB) / ns_per_us;
       })},
      {"alltoall-tiled-64k", tiled(64 * KiB)},
      {"alltoall-tiled-16m", tiled(16 * MiB)},
      {"alltoall-small-close", OfMachine([](const Machine& machine) {
         return four_ranks_ns(machine, on_one_socket, 8) /
                four_ranks_ns(machine, on_four_sockets, 8);
       }),
       [](const Machine& machine) {
         return simulated_four_ranks_ns(machine, on_one_socket, 8) /
                simulated_four_ranks_ns(machine, on_four_sockets, 8);
       }},
      {"alltoall-large-apart", OfMachine([](const Machine& machine) {
         return four_ranks_ns(machine, on_four_sockets, 8 * MiB) /
                four_ranks_ns(machine, on_one_socket, 8 * MiB);
       }),
       [](const Machine& machine) {
         return simulated_four_ranks_ns(machine, on_four_sockets, 8 * MiB) /
                simulated_four_ranks_ns(machine, on_one_socket, 8 * MiB);
       }},
      {"working-set-256k", working_sets(256 * KiB, 4, 1)},
      {"working-set-512k", working_sets(512 * KiB, 1, 4)},
      {"working-set-1m", working_sets(MiB, 1, 4)},
      {"working-set-2m", working_sets(2 * MiB, 3, 2)},
  };
}

}  // namespace huddle::reproduce

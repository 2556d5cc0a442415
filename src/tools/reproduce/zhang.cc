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

// The original queues are contiguous: the paper does not state the size of a flag, huddle's words
// have 8 bytes.
constexpr int flags_of_line = 8;

struct Barrier {
  Shape shape;
  Release release;
  int flags_per_line = 1;
};
constexpr Barrier two_queues{{Shape::Kind::flat, 1}, Release::own_queue, flags_of_line};
constexpr Barrier one_queue{{Shape::Kind::flat, 1}, Release::same_line};
constexpr Barrier three_levels{{Shape::Kind::levels, 1}, Release::same_line};

double barrier_ns(const Machine& machine, const Barrier& barrier) {
  const Seated seated(machine);
  return select::tree_barrier_ns(seated.costs, node::tree(barrier.shape, seated.locality, 0),
                                 {barrier.flags_per_line, barrier.release});
}

double simulated_barrier_ns(const Machine& machine, const Barrier& barrier) {
  const Seated seated(machine);
  return seated.simulated_ns(
      {}, select::team_resources(seated.locality, select::usual_queue_bytes),
      select::TreeBarrierPlan{barrier.shape, {barrier.flags_per_line, barrier.release}});
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

// Returns the load of the root's memory by its readers, as a number of copies within one node. A
// copy moves each byte three times: its reader loads it, fetches the target and writes it back, the
// last two in the reader's own node.
int copies_in_memory(const Seated& seated, const Reading& reading) {
  constexpr int streams = 3;
  const std::vector<int>& memory_of = seated.locality.memory_of;
  const auto local =
      static_cast<int>(std::count(memory_of.begin(), memory_of.end(), memory_of.front()));
  const int readers = seated.costs.ranks() - 1;
  return reading.is_spread ? (reading.at_once + (streams - 1) * local) / streams
                           : (readers + (streams - 1) * (local - 1)) / streams;
}

// Returns the time in which the root fills the whole buffer and all others then copy it.
double bcast_ns(const Machine& machine, const Reading& reading, std::size_t bytes) {
  constexpr int root = 0;
  const Seated seated(machine);
  const int far = seated.costs.farthest_from(root);
  return seated.costs.write_ns(bytes, bytes, root, far, memory::CopyKernel::plain) +
         seated.model.copy_ns({.bytes = static_cast<double>(bytes),
                               .copier = seated.locality.pus[static_cast<std::size_t>(far)],
                               .peer = seated.locality.pus[root],
                               .source = machine::Source::peer_wrote,
                               .others = copies_in_memory(seated, reading) - 1,
                               .others_share = "l3"});
}

// Simulates the same with huddle's protocol and segments that hold the whole message.
double simulated_bcast_ns(const Machine& machine, const Reading& reading, std::size_t bytes) {
  const Seated seated(machine);
  node::RankLocality memories = seated.locality;
  if (!reading.is_spread) memories.memory_of.assign(memories.memory_of.size(), 0);
  const node::SegmentedBcast layout({reading.at_once, bytes}, memories, 0, 0);
  const std::size_t segment = bytes / static_cast<std::size_t>(layout.segments());
  select::TeamResources resources =
      select::team_resources(seated.locality, select::usual_queue_bytes);
  resources.segmented_bcast = {reading.at_once, segment};
  const protocols::Question question{
      {.operation = select::Operation::bcast, .bytes = bytes}, memories, resources, seated.model};
  return protocols::predict(question,
                            node::SegmentedBcast::Plan{segment, memory::CopyKernel::plain})
      .all_ns();
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

double simulated_alltoall_ns(const Seated& seated, std::size_t bytes, std::size_t tile) {
  return seated.simulated_ns(
      {.operation = select::Operation::alltoall, .bytes = bytes},
      select::team_resources(seated.locality, select::usual_queue_bytes),
      node::PairExchange::Plan{.tile_bytes = tile, .order = node::PairOrder::paired});
}

// Returns a core's share of the L3 cache.
std::size_t largest_tile(const Machine& machine) {
  const machine::Level& cache = *machine::find_level(machine.topology, "l3");
  return static_cast<std::size_t>(cache.bytes.front()) /
         static_cast<std::size_t>(cache.groups.front().count());
}

// Returns the experiment for tiles: the time with the best tile that fits into a core's share of
// the L3 cache, relative to the time without tiles.
OfMachine tiled(std::size_t bytes) {
  return [bytes](const Machine& machine) {
    const Seated seated(machine);
    const double whole_ns = alltoall_ns(seated, bytes, bytes);
    double best_ns = whole_ns;
    for (const std::size_t tile : select::piece_sizes(bytes, largest_tile(machine))) {
      best_ns = std::min(best_ns, alltoall_ns(seated, bytes, tile));
    }
    return best_ns / whole_ns;
  };
}

// Simulates only the largest tile, as the time of a simulation rises with the number of tiles.
double simulated_tiles(const Machine& machine) {
  const Seated seated(machine);
  return simulated_alltoall_ns(seated, 16 * MiB, largest_tile(machine)) /
         simulated_alltoall_ns(seated, 16 * MiB, 16 * MiB);
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
      {"barrier-256", OfMachine([](const Machine& machine) {
         return (barrier_ns(machine, two_queues) - barrier_ns(machine, three_levels)) / ns_per_us;
       })},
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
      {"alltoall-tiled-16m", tiled(16 * MiB), simulated_tiles},
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

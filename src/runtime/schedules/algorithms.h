// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The algorithms for collectives between nodes, with names such as "allgather:neighbor".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/schedules/schedule.h"

namespace huddle::schedules {

// Order in which a reduction combines contributions.
enum class Order : std::uint8_t {
  none,             // nothing is combined
  reduction_order,  // that of reduction_tree.h: results do not depend on the algorithm
  free,             // any order, for operators whose result does not depend on it
};

// The parameters of a Call that affect the schedules of an algorithm.
struct Uses {
  bool radix = false;
  bool segments = false;
  bool message_blocks = false;
  bool shares = false;
};

using MakeSchedule = std::unique_ptr<Schedule>(const Call& call);

struct Algorithm {
  Operation operation;
  std::string_view name;     // "neighbor"
  std::string_view summary;  // a phrase for listings
  Order order;
  Uses uses;
  bool in_place;  // input and output may be one buffer
  MakeSchedule* make;
  // All blocks must have the same size, because they pass through other ranks.
  bool equal_blocks = false;

  std::string full_name() const;  // "allgather:neighbor"
};

// Returns all algorithms by operation, the simplest first. Each works for any number of ranks.
std::span<const Algorithm> algorithms();

// Both throw a UsageError that suggests the most similar name if none matches.
const Algorithm& algorithm_named(std::string_view full_name);
Operation operation_named(std::string_view word);

// Returns the schedule of the call. Throws UsageError if the call is invalid, for example if it has
// no ranks, a root that is not a rank, or a radix below 2.
std::unique_ptr<Schedule> make_schedule(const Algorithm& algorithm, const Call& call);

// Allgather and allgatherv: block r comes from rank r, and every rank receives all blocks. Blocks
// are received in their final places, so no algorithm needs a final rotation or scratch.
std::unique_ptr<Schedule> allgather_ring(const Call& call);
std::unique_ptr<Schedule> allgather_neighbor(const Call& call);
std::unique_ptr<Schedule> allgather_doubling(const Call& call);
std::unique_ptr<Schedule> allgather_bruck(const Call& call);
std::unique_ptr<Schedule> allgather_sparbit(const Call& call);
std::unique_ptr<Schedule> allgather_far_first(const Call& call);

// Allreduce: every rank receives the reduction of all contributions.
std::unique_ptr<Schedule> allreduce_doubling(const Call& call);
std::unique_ptr<Schedule> allreduce_halving(const Call& call);
std::unique_ptr<Schedule> allreduce_slices(const Call& call);
std::unique_ptr<Schedule> allreduce_ring(const Call& call);

// All-to-all: block d of a rank's input is for rank d, and block s of its output comes from rank s.
// Algorithms that send blocks directly also handle the v-forms, in which only the sender and the
// receiver know the size of a block. If blocks pass through other ranks (Bruck), they must have the
// same size.
std::unique_ptr<Schedule> alltoall_spread(const Call& call);
std::unique_ptr<Schedule> alltoall_pairwise(const Call& call);
std::unique_ptr<Schedule> alltoall_bruck(const Call& call);

// Barriers: messages without data.
std::unique_ptr<Schedule> barrier_dissemination(const Call& call);

// Broadcasts: all blocks are in the root's output at first, and in every rank's output at the end.
// Ranks are numbered cyclically from the root, so that any rank can be the root.
std::unique_ptr<Schedule> bcast_knomial(const Call& call);
std::unique_ptr<Schedule> bcast_chain(const Call& call);
std::unique_ptr<Schedule> bcast_scatter_ring(const Call& call);
std::unique_ptr<Schedule> bcast_scatter_doubling(const Call& call);
std::unique_ptr<Schedule> bcast_circulant(const Call& call);

// Gather and scatter, and their v-forms if all ranks know all sizes.
std::unique_ptr<Schedule> gather_knomial(const Call& call);
std::unique_ptr<Schedule> scatter_knomial(const Call& call);

// Reductions to one rank, and reductions that leave one block on each rank.
std::unique_ptr<Schedule> reduce_binomial(const Call& call);

std::unique_ptr<Schedule> reduce_scatter_halving(const Call& call);
std::unique_ptr<Schedule> reduce_scatter_slices(const Call& call);
std::unique_ptr<Schedule> reduce_scatter_ring(const Call& call);

// Scans: rank r receives the reduction over ranks 0 to r, or 0 to r - 1 (exclusive).
std::unique_ptr<Schedule> scan_doubling(const Call& call);
std::unique_ptr<Schedule> exscan_doubling(const Call& call);

}  // namespace huddle::schedules

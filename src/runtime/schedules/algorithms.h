// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Every algorithm by its name, "allgather:neighbor", and what it is for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/schedules/schedule.h"

namespace huddle::schedules {

// In which order a reduction joins.
enum class Order : std::uint8_t {
  none,         // it joins nothing
  association,  // that of association.h: bits do not depend on the algorithm
  free,         // for operators whose result no order changes
};

// Which numbers of a call change the schedule.
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
  std::string_view summary;  // half a line
  Order order;
  Uses uses;
  bool in_place;  // input and output may be one buffer
  MakeSchedule* make;
  bool equal_blocks = false;  // all blocks have to be as large, since they pass through others

  std::string full_name() const;  // "allgather:neighbor"
};

// In the order of operations, the simplest first. All of them are for any number of ranks.
std::span<const Algorithm> algorithms();

// Throws UsageError that names the nearest.
const Algorithm& algorithm_named(std::string_view full_name);
Operation operation_named(std::string_view word);

// Throws UsageError where the call cannot be: no ranks, a root that is not there, a radix below 2.
std::unique_ptr<Schedule> make_schedule(const Algorithm& algorithm, const Call& call);

// Allgather and allgatherv: block r comes from rank r, and everybody gets all. Blocks are received
// where they stay, so that nothing is turned round at the end and no algorithm needs scratch.
std::unique_ptr<Schedule> allgather_ring(const Call& call);
std::unique_ptr<Schedule> allgather_neighbor(const Call& call);
std::unique_ptr<Schedule> allgather_doubling(const Call& call);
std::unique_ptr<Schedule> allgather_bruck(const Call& call);
std::unique_ptr<Schedule> allgather_sparbit(const Call& call);
std::unique_ptr<Schedule> allgather_far_first(const Call& call);

// Allreduce: everybody gets the join of all contributions.
std::unique_ptr<Schedule> allreduce_doubling(const Call& call);
std::unique_ptr<Schedule> allreduce_halving(const Call& call);
std::unique_ptr<Schedule> allreduce_slices(const Call& call);
std::unique_ptr<Schedule> allreduce_ring(const Call& call);

// All-to-all: of a rank's input block d is for rank d, and of its output block s comes from rank s.
// Where each goes straight from one to the other it serves the v-forms, too, of whose sizes only
// these two know; through others (Bruck) only blocks of one size can go.
std::unique_ptr<Schedule> alltoall_spread(const Call& call);
std::unique_ptr<Schedule> alltoall_pairwise(const Call& call);
std::unique_ptr<Schedule> alltoall_bruck(const Call& call);

// Barriers: messages without data.
std::unique_ptr<Schedule> barrier_dissemination(const Call& call);

// Broadcasts: all blocks are in the root's output at first, and in everybody's at the end. Ranks
// are counted from the root on, round the circle, so that any rank can be it.
std::unique_ptr<Schedule> bcast_knomial(const Call& call);
std::unique_ptr<Schedule> bcast_chain(const Call& call);
std::unique_ptr<Schedule> bcast_scatter_ring(const Call& call);
std::unique_ptr<Schedule> bcast_scatter_doubling(const Call& call);
std::unique_ptr<Schedule> bcast_circulant(const Call& call);

// Gather and scatter, and their v-forms where all ranks know all sizes.
std::unique_ptr<Schedule> gather_knomial(const Call& call);
std::unique_ptr<Schedule> scatter_knomial(const Call& call);

// Reductions to one rank, and to each its block.
std::unique_ptr<Schedule> reduce_binomial(const Call& call);

std::unique_ptr<Schedule> reduce_scatter_halving(const Call& call);
std::unique_ptr<Schedule> reduce_scatter_slices(const Call& call);
std::unique_ptr<Schedule> reduce_scatter_ring(const Call& call);

// Scans: rank r gets the join of the contributions of ranks 0 to r, or to r - 1.
std::unique_ptr<Schedule> scan_doubling(const Call& call);
std::unique_ptr<Schedule> exscan_doubling(const Call& call);

}  // namespace huddle::schedules

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Flags are compared with wrap-around: a flag 2^31 behind would appear to be far ahead. So every
// flag must advance, whichever rank is root for however long.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "check/counting/counted_context.h"
#include "operators.h"
#include "runtime/node/bcast_protocols.h"
#include "runtime/node/locality.h"
#include "runtime/node/reduce_tree.h"
#include "shapes.h"
#include "threads.h"

namespace huddle::node::test {
namespace {

using check::counting::CountedContext;
using context::first_sequence;
using context::Sequence;
using memory::CopyKernel;

constexpr int ranks = 4;
constexpr Sequence calls_past_wrap = 70;  // past the wrap
const std::vector<int> everybody = {0, 1, 2, 3};

// Each call advances by one set, and 512 sets are 2^31 cells: then the root changes.
TEST(KeepingUp, NewRootWorksAfterAnotherRootsManyCalls) {
  constexpr int set_cells = 1 << 22;
  constexpr int calls_of_a_root = 600;
  constexpr int all_calls = ranks * calls_of_a_root;
  Threads<PipelinedBcast> threads(ranks, [](int rank) {
    return PipelinedBcast({{chain}, 1, set_cells, 2}, unknown_locality(ranks), rank,
                          first_sequence);
  });
  threads.run([](int rank, PipelinedBcast& bcast, const auto& context_for) {
    for (int call = 0; call < all_calls; ++call) {
      const int root = call / calls_of_a_root;
      int number = rank == root ? call : -1;
      NativeContext ctx = context_for(&number, &number);
      bcast.run(ctx, sizeof number, root, {0, sizeof number, CopyKernel::plain});
      EXPECT_EQ(number, call) << "rank " << rank;
    }
  });
}

// Makes calls that always have the same root. Afterwards every owner's flags at these offsets must
// be at most `slots` calls behind.
template <class Make, class Run>
void expect_flags_come_along(const std::vector<std::size_t>& flags, const std::vector<int>& owners,
                             Make make, Run run, Sequence slots) {
  check::counting::Job job;
  job.ranks = ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    job.sizes.shared =
        std::max(job.sizes.shared, round_up(make(rank).shared_bytes(), false_sharing_bytes));
  }
  job.sizes.input = job.sizes.output = 4 * page_bytes;
  job.sizes.scratch = 4 * page_bytes;
  job.body = [&](CountedContext& ctx) {
    auto protocol = make(ctx.rank());
    for (Sequence call = 0; call < calls_past_wrap; ++call) run(protocol, ctx);
  };
  job.look = [&](const check::checker::Memory& memory) {
    for (const int owner : owners) {
      for (const std::size_t flag : flags) {
        Sequence stands = 0;
        std::memcpy(&stands, memory.bytes(Region::shared, owner).data() + flag, sizeof stands);
        EXPECT_TRUE(context::reached(stands, first_sequence + calls_past_wrap - slots + 1))
            << "rank " << owner << " at " << flag;
      }
    }
  };
  count(job);
}

TEST(KeepingUp, SlotsOfInlineBroadcastAdvance) {
  constexpr std::size_t slots_at = false_sharing_bytes;  // behind one counter
  expect_flags_come_along(
      {slots_at, slots_at + slot_bytes(8)}, everybody,
      [](int rank) {
        return InlineBcast({{chain}, 8, 2}, unknown_locality(ranks), rank, first_sequence);
      },
      [](InlineBcast& bcast, CountedContext& ctx) { bcast.run(ctx, 8, 0, 0); },
      // Leaves raise their flags rarely; a leaf that did so at the wrap is 6 calls behind.
      8);
}

TEST(KeepingUp, CountersOfSegmentedBroadcastAdvance) {
  expect_flags_come_along(
      {0, false_sharing_bytes}, everybody,
      [](int rank) {
        return SegmentedBcast({1, page_bytes}, unknown_locality(ranks), rank, first_sequence);
      },
      [](SegmentedBcast& bcast, CountedContext& ctx) {
        bcast.run(ctx, 8, 0, {page_bytes, CopyKernel::plain});
      },
      1);
}

TEST(KeepingUp, ResultFlagsOfReductionsAdvance) {
  constexpr int slots = 2;
  const std::size_t results_at = false_sharing_bytes + slots * slot_bytes(8);
  const auto make = [](int) {
    return TreeReduce({8, slots}, ReductionOrder(unknown_locality(ranks)), first_sequence);
  };
  const memory::Reduction product = product_of<Bracketed>();
  const std::vector<std::size_t> flags = {results_at, results_at + slot_bytes(8)};
  const std::vector<int> leaders = {0, 2};
  expect_flags_come_along(
      flags, leaders, make,
      [&](TreeReduce& reduce, CountedContext& ctx) {
        reduce.reduce(ctx, 1, product, 1, {8, TreeReduce::Top::first_rank});
      },
      slots);
  expect_flags_come_along(
      flags, leaders, make,
      [&](TreeReduce& reduce, CountedContext& ctx) {
        reduce.allreduce(ctx, 1, product, {8, TreeReduce::Top::everybody});
      },
      slots);
}

}  // namespace
}  // namespace huddle::node::test

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests of docs/example/relay_scan.h, the example in docs/extend.md of a protocol: all event
// orders, planted errors, real threads, counted cache-line transfers, and the predicted time.
#include "relay_scan.h"

#include "check/counting/counted_context.h"
#include "checked.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "operators.h"
#include "relay_scan_price.h"
#include "threads.h"

namespace huddle::example {
namespace {

using check::checker::CheckedContext;
using check::checker::Excuse;
using check::checker::Fault;
using check::checker::Job;
using check::checker::Mutation;
using check::checker::Options;
using node::test::Bracketed;
using node::test::Bytes;

const memory::Reduction bracketed = node::test::product_of<Bracketed>();

Bracketed given(int rank, std::size_t call) {
  return {static_cast<std::uint64_t>(rank) * 100 + call + 1};
}

Bracketed joined_up_to(int rank, std::size_t call) {
  Bracketed all = given(0, call);
  for (int next = 1; next <= rank; ++next) all = all * given(next, call);
  return all;
}

Bytes bytes_of(Bracketed value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// More calls than there are slots.
Job relay_job(int ranks, std::size_t calls) {
  const node::test::Script script{
      calls, sizeof(Bracketed),
      [](int rank, std::size_t call) { return bytes_of(given(rank, call)); },
      [](int rank, std::size_t call) { return bytes_of(joined_up_to(rank, call)); }};
  return node::test::job_of(
      ranks, script, [](int) { return RelayScan(check::checker::just_below_wrap); },
      [](RelayScan& relay, CheckedContext& ctx, std::size_t) { relay.run(ctx, 1, bracketed); });
}

TEST(RelayScan, EveryOrderOfAFewRanks) {
  for (const int ranks : {2, 3, 4}) EXPECT_TRUE(node::test::passes(relay_job(ranks, 4)));
}

// The mutations are in source order: the wait for the predecessor's data, then that for a free
// slot.
TEST(RelayScan, AForgottenWaitForRoomIsFound) {
  const Job job = relay_job(2, 3);
  std::vector<Mutation> forgotten = mutations_of(job);
  std::erase_if(forgotten, [](const Mutation& one) {
    return one.fault != Fault::dropped || one.site.operation != check::checker::Operation::wait;
  });
  ASSERT_EQ(forgotten.size(), 2U);
  Options options;
  options.mutation = forgotten.back();
  const auto result = explore(job, options);
  EXPECT_FALSE(result.passed());
  std::cout << text_of(result) << "\n";
}

TEST(RelayScan, EveryPlantedErrorIsFound) {
  const std::vector<Excuse> excuses = {
      {Fault::one_less, "ctx.store(taken_by(",
       "the rank before waits for one call more, which comes"},
      {Fault::one_more, "ctx.store(mine", "a slot's next number is two higher: nobody is misled"}};
  EXPECT_TRUE(node::test::bites({relay_job(3, 4)}, excuses, "docs/example/"));
}

TEST(RelayScan, ComputesTheScanOnThreads) {
  constexpr std::size_t calls = 150;  // enough for the counters to wrap
  for (const int ranks : {1, 2, 3, 7}) {
    node::test::Threads<RelayScan> threads(ranks,
                                           [](int) { return RelayScan(context::first_sequence); });
    threads.run([](int rank, RelayScan& relay, const auto& context_for) {
      for (std::size_t call = 0; call < calls; ++call) {
        const Bracketed own = given(rank, call);
        Bracketed result;
        auto ctx = context_for(&own, &result);
        relay.run(ctx, 1, bracketed);
        EXPECT_EQ(result, joined_up_to(rank, call));
      }
    });
  }
}

// Each rank except the last sends one line with its result to the next rank, which returns a flag.
TEST(RelayScan, MovesOneCacheLineInEachDirection) {
  constexpr std::size_t calls = 10;
  check::counting::Job job;
  job.ranks = 4;
  job.sizes = {.shared = 4096, .input = sizeof(Bracketed), .output = sizeof(Bracketed)};
  job.body = [](check::counting::CountedContext& ctx) {
    RelayScan relay(context::first_sequence);
    for (std::size_t call = 0; call < calls; ++call) relay.run(ctx, 1, bracketed);
  };
  const check::counting::Counts counts = count(job);
  for (int rank = 1; rank < job.ranks; ++rank) {
    EXPECT_EQ(counts.transfers(rank - 1, rank), calls);
    EXPECT_LE(counts.transfers(rank, rank - 1), calls);
  }
  EXPECT_EQ(counts.transfers(0, 2), 0U);
}

// Two sockets: a line takes 45 ns between cores of a socket, and 120 ns between the sockets.
TEST(RelayScan, PredictedTimeIsOneLinePerRank) {
  const machine::Topology anywhere;
  const machine::Machine machine =
      machine::load_machine(HUDDLE_SOURCE_DIR "/machines/xeon-e5620-2s.toml", anywhere).machine;
  const machine::CostModel model(machine);
  const auto price_ns = [&](const std::vector<int>& pus) {
    const node::RankLocality locality = node::locality(machine.topology, pus);
    return relay_scan_ns(select::Costs(model, locality));
  };
  EXPECT_DOUBLE_EQ(price_ns({0, 1}), 45);
  EXPECT_DOUBLE_EQ(price_ns({0, 1, 2, 3, 4, 5, 6, 7}), 6 * 45 + 120);
}

}  // namespace
}  // namespace huddle::example

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Model-checks the switch from calls without a vote to calls with one, in the same call everywhere.
#include "checked.h"
#include "runtime/node/agreement.h"

namespace huddle::node::test {
namespace {

// Both sides execute a fence; in production the kernel does this for the frequent side.
struct BothSides {
  void frequent_side(CheckedContext& ctx) const { ctx.fence(); }
  void rare_side(CheckedContext& ctx) const { ctx.fence(); }
};

constexpr std::size_t call_bytes = 1;

// Returns the first call in which a rank requests the switch.
using Wish = std::function<std::size_t(int rank)>;
constexpr std::size_t never = 100;

// Ranks make their calls without waiting for each other, as roots do, which allows the largest
// possible distance between them. Each records the answer of every call.
Job start_job(int ranks, std::size_t calls, const Wish& from) {
  Job job;
  job.ranks = ranks;
  job.sizes.shared = CommonStart::shared_bytes();
  job.sizes.input = 2 * call_bytes;
  job.sizes.output = calls * call_bytes;
  job.prepare = [](check::checker::Memory& memory) {
    for (int rank = 0; rank < memory.ranks(); ++rank) {
      place(memory.bytes(Region::input, rank), 0, {std::byte{1}, std::byte{2}});
    }
  };
  job.body = [=](CheckedContext& ctx) {
    CommonStart start(0, just_below_wrap);
    for (std::size_t call = 0; call < calls; ++call) {
      const bool has_started = start.has_started(ctx, call >= from(ctx.rank()), BothSides());
      ctx.copy({Region::output, ctx.rank(), call},
               {Region::input, ctx.rank(), has_started ? 1U : 0U}, call_bytes,
               memory::CopyKernel::plain);
    }
  };
  job.verify = [=](const check::checker::Memory& memory) -> std::string {
    const auto of_first = memory.bytes(Region::output, 0);
    for (int rank = 1; rank < memory.ranks(); ++rank) {
      const auto told = memory.bytes(Region::output, rank);
      if (!std::equal(told.begin(), told.end(), of_first.begin())) {
        return "rank " + std::to_string(rank) + " starts with another call than rank 0";
      }
    }
    return {};
  };
  return job;
}

Wish only(int who, std::size_t call) {
  return [=](int rank) { return rank == who ? call : never; };
}

TEST(CommonStartChecked, EveryOrderOfAFewRanks) {
  for (const int who : {0, 1}) {
    for (std::size_t call = 0; call < 3; ++call) {
      EXPECT_TRUE(passes(start_job(2, 4, only(who, call))));
    }
  }
  EXPECT_TRUE(passes(start_job(2, 3, [](int) { return 1; })));
  EXPECT_TRUE(passes(start_job(2, 4, [](int rank) { return static_cast<std::size_t>(2 - rank); })));
  EXPECT_TRUE(passes(start_job(3, 3, only(2, 1))));
  EXPECT_TRUE(passes(start_job(3, 3, [](int rank) { return rank == 0 ? never : 1; })));
}

TEST(CommonStartChecked, EveryPlantedErrorIsFound) {
  const std::string no_data =
      "no data go with it: it is ordered by the fence, or by what is said next";
  const std::string later = "a start that is one call later is as good";
  EXPECT_TRUE(bites({start_job(2, 4, only(1, 1)), start_job(2, 3, [](int) { return 1; }),
                     start_job(3, 3, [](int rank) { return rank == 0 ? never : 1; })},
                    {{Fault::relaxed, "ctx.load(request())", no_data},
                     {Fault::relaxed, "ctx.store(call_of(", no_data},
                     {Fault::one_more, "ctx.store(call_of(", later},
                     {Fault::relaxed, "ctx.fetch_add(request()", no_data},
                     {Fault::one_more, "ctx.fetch_add(request()", "only the first to ask counts"},
                     {Fault::relaxed, "ctx.wait(answer()",
                      "loads of flags come in their order here, and only here"},
                     {Fault::relaxed, "ctx.load(first_call())", no_data},
                     {Fault::relaxed, "ctx.load(call_of(", no_data},
                     {Fault::relaxed, "ctx.store(first_call()", no_data},
                     {Fault::one_more, "ctx.store(first_call()", later}}));
}

}  // namespace
}  // namespace huddle::node::test

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests CommonStart (agreement.h) on threads that run ahead of each other arbitrarily, with the
// fences used in production.
#include <gtest/gtest.h>

#include <random>

#include "runtime/memory/one_sided_fence.h"
#include "runtime/node/agreement.h"
#include "threads.h"

namespace huddle::node::test {
namespace {

using memory::OneSidedFence;

struct Fence {
  OneSidedFence fence;
  void frequent_side(NativeContext& /*w*/) const { fence.frequent_side(); }
  void rare_side(NativeContext& /*w*/) const { fence.rare_side(); }
};

constexpr int common_starts = 200;

// Returns, by rank, the first call that reported the start.
std::vector<int> starts(int ranks, unsigned seed, const OneSidedFence& fence) {
  Threads<CommonStart> threads(ranks, [](int) { return CommonStart(0, context::first_sequence); });
  std::vector<int> started(static_cast<std::size_t>(ranks), common_starts);
  threads.run([&](int rank, CommonStart& start, const Threads<CommonStart>::WorldFor& context_for) {
    std::mt19937 chance(seed + static_cast<unsigned>(rank));
    const int asks_from = static_cast<int>(chance() % (2 * common_starts));
    NativeContext ctx = context_for(nullptr, nullptr);
    for (int call = 0; call < common_starts; ++call) {
      int& own = started[static_cast<std::size_t>(rank)];
      if (start.has_started(ctx, call >= asks_from, Fence{fence}) && own == common_starts)
        own = call;
      if (chance() % 16 == 0) std::this_thread::yield();
    }
  });
  return started;
}

// A rank that has made all its calls before any request reports no start.
void expect_one_start(const OneSidedFence& fence) {
  constexpr unsigned seeds = 30;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    const std::vector<int> started = starts(3, 100 * seed, fence);
    EXPECT_EQ(started, std::vector<int>(3, started.front())) << "seed " << seed;
  }
}

TEST(CommonStartThreads, AllRanksStartTogether) {
  expect_one_start(OneSidedFence(OneSidedFence::Among::processes, false));
}

TEST(CommonStartThreads, AllRanksStartTogetherWithOneSidedFence) {
  for (const auto among : {OneSidedFence::Among::processes, OneSidedFence::Among::threads}) {
    if (OneSidedFence::is_supported(among)) expect_one_start(OneSidedFence(among, true));
  }
}

}  // namespace
}  // namespace huddle::node::test

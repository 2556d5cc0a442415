// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests how Waiting adapts. Durations are passed in; only the competition for the core is real.
#include "runtime/context/waiting.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cmath>
#include <thread>

namespace huddle::context {
namespace {

constexpr double wake_ns = 5000;
constexpr double slice_ns = 3'000'000;

// Makes this thread share one hardware thread with another one that never blocks.
class Company {
 public:
  Company() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);  // inherited by the other thread
    other_ = std::thread([this] {
      while (!over_.load(std::memory_order_relaxed)) continue;
    });
  }
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;
  ~Company() {
    over_ = true;
    other_.join();
    sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_;
  std::atomic<bool> over_ = false;
  std::thread other_;
};

// Returns a Waiting that has detected competition for its core, but has no cost estimate.
Waiting in_company() {
  const Company company;
  Waiting waiting({.wake_ns = wake_ns}, nullptr, nullptr);
  while (!std::isfinite(waiting.spin_ns())) waiting.detect_competition();
  return waiting;
}

TEST(Waiting, SpinsWithoutLimitOnUnsharedCore) {
  Waiting waiting({.wake_ns = wake_ns}, nullptr, nullptr);
  EXPECT_TRUE(std::isinf(waiting.spin_ns()));
}

TEST(Waiting, NeverSpinsIfOversubscribed) {
  Waiting waiting({.oversubscribed = true, .wake_ns = wake_ns}, nullptr, nullptr);
  waiting.record_first_yield(slice_ns);
  EXPECT_EQ(waiting.spin_ns(), 0);
}

TEST(Waiting, DoesNotSpinOnSharedCoreBeforeFirstEstimate) { EXPECT_EQ(in_company().spin_ns(), 0); }

// Called until it is unregistered, whether or not there is a progress callback.
TEST(Waiting, AdvancesOwnPendingWork) {
  for (const bool with_others : {false, true}) {
    int others = 0;
    int own = 0;
    Waiting waiting({.wake_ns = wake_ns},
                    with_others ? ProgressCallback([&] { ++others; }) : nullptr, nullptr);
    waiting.set_pending_work([&] { ++own; });
    Wait wait(waiting);
    while (own < 3) wait.spend();
    EXPECT_EQ(others, with_others ? 3 : 0);
    waiting.set_pending_work(nullptr);
    EXPECT_EQ(waiting.has_progress(), with_others);
  }
}

// Another program takes the core for a time slice now and then; most yields return at once.
TEST(Waiting, RemembersTimeSlicesOfOtherPrograms) {
  Waiting waiting = in_company();
  for (int i = 0; i < 100; ++i) waiting.record_first_yield(i % 10 == 0 ? slice_ns : 500);
  EXPECT_GT(waiting.spin_ns(), 10 * wake_ns);
  EXPECT_LT(waiting.spin_ns(), slice_ns);
  for (int i = 0; i < 100; ++i) waiting.record_first_yield(500);
  EXPECT_LT(waiting.spin_ns(), wake_ns);
}

// Two ranks share a core: the yield times that each measures include the other's spinning.
TEST(Waiting, EstimateExcludesSpinningOfOtherRank) {
  constexpr double work_ns = 20'000;
  Waiting waiting = in_company();
  for (int i = 0; i < 1000; ++i) waiting.record_first_yield(work_ns + waiting.spin_ns());
  EXPECT_NEAR(waiting.spin_ns(), work_ns, 1);
}

TEST(Waiting, SpinsWithoutLimitAgainOnceCoreIsUnshared) {
  Waiting waiting = in_company();
  for (int i = 0; i < 1000; ++i) waiting.record_yield(500);
  EXPECT_TRUE(std::isinf(waiting.spin_ns()));
}

}  // namespace
}  // namespace huddle::context

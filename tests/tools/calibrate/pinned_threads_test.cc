// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/pinned_threads.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <cstdint>
#include <vector>

#include "common/error.h"
#include "here.h"
#include "tools/calibrate/repeat.h"

namespace huddle::calibrate {
namespace {

TEST(MeasuringThreads, RunsWorkOnItsHardwareThread) {
  const std::vector<int> pus = cores_here();
  MeasuringThreads crew(pus);
  std::vector<int> ran(pus.size(), -1);
  const auto uses = crew.run(pus, [&](std::size_t who) { ran[who] = sched_getcpu(); });
  EXPECT_EQ(ran, pus);
  ASSERT_EQ(uses.size(), pus.size());
  for (std::size_t i = 0; i < pus.size(); ++i) EXPECT_EQ(uses[i].pu, pus[i]);
}

TEST(MeasuringThreads, ReusesThreads) {
  const std::array pus = {cores_here().front()};
  MeasuringThreads crew(pus);
  int calls = 0;
  for (int i = 0; i < 100; ++i) crew.run(pus, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 100);
}

TEST(MeasuringThreads, ReportsCpuTime) {
  const std::array pus = {cores_here().front()};
  MeasuringThreads crew(pus);
  const auto uses = crew.run(pus, [](std::size_t) {
    const double until = now_ns() + 5 * ns_per_ms;
    while (now_ns() < until) continue;
  });
  EXPECT_GE(uses.front().wall_ns, 5 * ns_per_ms);
  EXPECT_GT(uses.front().cpu_ns, 0);
  EXPECT_LE(taken_away(uses.front()), 1);
}

TEST(MeasuringThreads, RethrowsErrors) {
  const std::array pus = {cores_here().front()};
  MeasuringThreads crew(pus);
  EXPECT_THROW(crew.run(pus, [](std::size_t) { throw FailureError("no"); }), FailureError);
  crew.run(pus, [](std::size_t) {});  // still works
}

// Otherwise it would block forever and ignore Ctrl-C.
TEST(TimeTogether, EndsIfOneFailsBeforeStart) {
  HUDDLE_NEED_CORES(2);
  const std::vector<int> pus = cores_here();
  MeasuringThreads crew(pus);
  const auto work = [](std::size_t who, std::size_t) {
    if (who == 0) throw FailureError("a peer is gone");
  };
  EXPECT_THROW(time_together(crew, pus, 1, {.seconds = 600}, ample(), work), FailureError);
}

TEST(TimeTogether, EndsIfOneFailsLater) {
  HUDDLE_NEED_CORES(2);
  const std::vector<int> pus = cores_here();
  MeasuringThreads crew(pus);
  int calls = 0;
  const auto work = [&](std::size_t who, std::size_t) {
    if (who == 0 && ++calls == 3) throw FailureError("a peer is gone");
  };
  EXPECT_THROW(time_together(crew, pus, 1, {.seconds = 600}, ample(), work), FailureError);
}

TEST(TimeRounds, EndsIfOneFails) {
  HUDDLE_NEED_CORES(2);
  const std::vector<int> pus = cores_here();
  MeasuringThreads crew(pus);
  const auto nothing = [](std::size_t, std::uint32_t) {};
  const auto work = [](std::size_t who, std::uint32_t round) {
    if (who == 1 && round == 3) throw FailureError("a peer is gone");
  };
  EXPECT_THROW(time_rounds(crew, pus, {pus.size(), 1, nothing, work}, {.seconds = 600}, ample()),
               FailureError);
}

// The others continue until the late one has a few samples, too.
TEST(TimeTogether, HasSamplesOfEveryCore) {
  const std::vector<int> pus = cores_here();
  MeasuringThreads crew(pus);
  const auto work = [](std::size_t who, std::size_t) {
    const double until = now_ns() + (who == 0 ? 1e6 : 1e3);
    while (now_ns() < until) continue;
  };
  const Samples samples = time_together(crew, pus, 1, few, ample(), work);
  EXPECT_GE(samples.ns.size(), samples_in_any_case);
  ASSERT_EQ(samples.further_ns.size(), pus.size() - 1);
  for (const auto& ns : samples.further_ns) EXPECT_GE(ns.size(), samples_in_any_case);
}

TEST(Placed, IsPlacedByTheThreadThatUsesIt) {
  const std::vector<int> pus = cores_here();
  MeasuringThreads crew(pus);
  const Placed<Flag> flags(crew, pus.back(), 3);
  ASSERT_EQ(flags.all().size(), 3U);
  // In pages of its own, far apart, and not on a stack.
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&*flags) % memory::page_bytes(), 0U);
  EXPECT_GE(sizeof(Flag), 256U);
  for (const Flag& flag : flags.all()) EXPECT_EQ(flag.value.load(), 0U);
}

TEST(MeasuringThreads, ReportsMissingHardwareThread) {
  const std::array nowhere = {100000};
  try {
    const MeasuringThreads crew(nowhere);
    FAIL() << "a thread on hardware thread 100000";
  } catch (const FailureError& error) {
    EXPECT_NE(std::string(error.what()).find("hardware thread 100000"), std::string::npos)
        << error.what();
  }
}

TEST(MeasuringThreads, RejectsHardwareThreadWithoutThread) {
  const std::vector<int> none;
  MeasuringThreads crew(none);
  EXPECT_THROW(crew.run(std::array{0}, [](std::size_t) {}), FailureError);
}

}  // namespace
}  // namespace huddle::calibrate

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/context/fiber.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace huddle::context {
namespace {

using testing::ElementsAre;

TEST(Fibers, ResumeWhereTheyWereSuspended) {
  Fibers fibers(2);
  std::vector<std::string> seen;
  const Fibers::Body body = [&](int me) {
    const std::string name = std::to_string(me);
    seen.push_back(name + " begins");
    fibers.switch_to(1 - me);
    seen.push_back(name + " goes on");
    return me == 0 ? 1 : Fibers::host;
  };
  fibers.run(0, body);
  EXPECT_THAT(seen, ElementsAre("0 begins", "1 begins", "0 goes on", "1 goes on"));
  EXPECT_EQ(fibers.current(), Fibers::host);
}

TEST(Fibers, StartAgainInTheNextRun) {
  Fibers fibers(3);
  int runs = 0;
  const Fibers::Body body = [&](int me) {
    ++runs;
    return me + 1 < 3 ? me + 1 : Fibers::host;
  };
  for (int i = 0; i < 100; ++i) fibers.run(0, body);
  EXPECT_EQ(runs, 300);
}

TEST(Fibers, NeedNotBeStarted) {
  Fibers fibers(8);
  int last = -1;
  const Fibers::Body body = [&](int me) {
    last = me;
    return Fibers::host;
  };
  fibers.run(5, body);
  EXPECT_EQ(last, 5);
}

// Both fibers are in a catch block at the same time, and leave it in the order of entry.
TEST(Fibers, KeepTheirExceptionsSeparate) {
  Fibers fibers(2);
  std::vector<std::string> caught;
  const Fibers::Body body = [&](int me) {
    try {
      throw std::runtime_error(std::to_string(me));
    } catch (const std::runtime_error&) {
      fibers.switch_to(1 - me);
      try {
        throw;
      } catch (const std::runtime_error& again) {
        caught.emplace_back(again.what());
      }
    }
    return me == 0 ? 1 : Fibers::host;
  };
  fibers.run(0, body);
  EXPECT_THAT(caught, ElementsAre("0", "1"));
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST(Fibers, SupportDeepCalls) {
  Fibers fibers(1);
  const std::function<int(int)> deep = [&](int depth) -> int {
    volatile char frame[256] = {};
    frame[0] = 1;
    return depth == 0 ? 0 : frame[0] + deep(depth - 1);
  };
  int reached = 0;
  const Fibers::Body body = [&](int) {
    reached = deep(100);
    return Fibers::host;
  };
  fibers.run(0, body);
  EXPECT_EQ(reached, 100);
}

}  // namespace
}  // namespace huddle::context

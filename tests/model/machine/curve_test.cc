// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/machine/cost.h"

namespace huddle::machine {
namespace {

const Curve simple = {{100, 200, 400}, {20, 30, 70}, {}};

TEST(Curve, InterpolatesLinearly) {
  EXPECT_DOUBLE_EQ(time_at(simple, 100), 20);
  EXPECT_DOUBLE_EQ(time_at(simple, 150), 25);
  EXPECT_DOUBLE_EQ(time_at(simple, 300), 50);
}

TEST(Curve, ExtrapolatesBelowToTheFixedCost) {
  EXPECT_DOUBLE_EQ(time_at(simple, 0), 10);
  EXPECT_DOUBLE_EQ(time_at(simple, 50), 15);
}

TEST(Curve, ExtrapolatesAboveAtTheSlowerRate) {
  EXPECT_DOUBLE_EQ(time_at(simple, 500), 90);
  // The last two points have a slope of 0, so the overall rate is used.
  const Curve flat = {{100, 200}, {20, 20}, {}};
  EXPECT_DOUBLE_EQ(time_at(flat, 400), 40);
}

TEST(Curve, IsMadeMonotone) {
  const Curve noisy = {{100, 200, 300}, {20, 15, 30}, {}};
  EXPECT_DOUBLE_EQ(time_at(noisy, 200), 20);
}

rc::Gen<Curve> curves() {
  return rc::gen::map(rc::gen::nonEmpty(rc::gen::container<std::vector<std::pair<int, int>>>(
                          rc::gen::pair(rc::gen::inRange(1, 5000), rc::gen::inRange(1, 5000)))),
                      [](const std::vector<std::pair<int, int>>& steps) {
                        Curve curve;
                        double bytes = 0;
                        for (const auto& [step, ns] : steps) {
                          bytes += step;
                          curve.bytes.push_back(bytes);
                          curve.ns.push_back(ns);
                        }
                        return curve;
                      });
}

RC_GTEST_PROP(CurveProperty, NeverFallsAndIsNeverNegative, ()) {
  const Curve curve = *curves();
  const double small = *rc::gen::inRange(0, 100000);
  const double large = small + *rc::gen::inRange(0, 100000);
  RC_ASSERT(time_at(curve, small) >= 0);
  RC_ASSERT(time_at(curve, large) >= time_at(curve, small) - 1e-9);
}

RC_GTEST_PROP(CurveProperty, HasNoJumps, ()) {
  const Curve curve = *curves();
  for (const double bytes : curve.bytes) {
    const double before = time_at(curve, bytes * (1 - 1e-9));
    const double after = time_at(curve, bytes * (1 + 1e-9));
    RC_ASSERT(after - before < 1e-4 * (after + 1));
  }
}

RC_GTEST_PROP(ContentionProperty, TimeNeverFallsWithContention, ()) {
  const Curve one = *curves();
  const Curve four = *curves();
  const Curve nine = *curves();
  const std::vector<CrowdPoint> points = {{1, &one}, {4, &four}, {9, &nine}};
  const double bytes = *rc::gen::inRange(1, 100000);
  double slowest = 0;
  for (int copiers = 1; copiers < 20; ++copiers) {
    const double ns = crowd_time_ns(points, bytes, copiers);
    RC_ASSERT(ns >= slowest - 1e-9);
    slowest = ns;
  }
}

}  // namespace
}  // namespace huddle::machine

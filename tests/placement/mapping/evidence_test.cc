// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/evidence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "placement/mapping/method.h"
#include "scene.h"

namespace huddle::mapping::test {
namespace {

// Events of a program in which neighbours share pages; a fraction `noise` of the events is random.
Events sampled_line(int threads, int events, double noise, std::uint64_t seed) {
  GraphBuilder builder(threads);
  Random random(seed);
  for (int i = 0; i < events; ++i) {
    const bool is_noise = random.fraction() < noise;
    const int a = random.below(threads - 1);
    const int apart = is_noise ? 1 + random.below(threads - 1) : 1;
    builder.add({a, is_noise ? (a + apart) % threads : a + 1, 1});
  }
  return {builder.finish(), 1};
}

Graph line(int threads) {
  GraphBuilder builder(threads);
  for (int t = 1; t < threads; ++t) builder.add({t - 1, t, 1});
  return builder.finish();
}

TEST(Evidence, FewEventsAreNotSufficient) {
  for (const int events : {0, 36, 112}) {
    EXPECT_EQ(examine(sampled_line(16, events, 0.3, 1), {}), Finding::too_few_events) << events;
  }
  EXPECT_EQ(examine(sampled_line(16, 200, 0, 1), {}), Finding::sufficient);
}

TEST(Evidence, NoiseAloneIsNotSufficient) {
  constexpr int seeds = 100;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const int events : {200, 1000}) {
      EXPECT_NE(examine(sampled_line(16, events, 1, seed), {}), Finding::sufficient)
          << "seed " << seed;
    }
  }
}

// A burst is a single observation, regardless of its number of events.
TEST(Evidence, EventsInBurstsCountLess) {
  Events events = sampled_line(16, 400, 0, 1);
  EXPECT_EQ(examine(events, {}), Finding::sufficient);
  events.dispersion = 100;
  EXPECT_EQ(examine(events, {}), Finding::all_alike);
}

TEST(Evidence, GainIsReducedByItsDeviation) {
  GraphBuilder builder(4);
  builder.add({0, 2, 100});
  builder.add({1, 3, 100});
  Scene scene(synthetic("pack:2 core:2 pu:1"), builder.finish());
  const Mapping together = {0, 2, 1, 3};
  const auto gain = [&](double dispersion) {
    const Events events{scene.problem().graph, dispersion};
    return gain_of(events, scene.tree(), scene.problem().present, together);
  };
  EXPECT_DOUBLE_EQ(gain(1).ns, 200 * 20.0);  // 30 ns across sockets, 10 within one
  EXPECT_DOUBLE_EQ(gain(1).before_ns, 200 * 30.0);
  EXPECT_NEAR(gain(1).deviation_ns, std::sqrt(200.0) * 20, 1e-9);
  EXPECT_DOUBLE_EQ(gain(4).deviation_ns, 2 * gain(1).deviation_ns);
  EXPECT_DOUBLE_EQ(gain(0).deviation_ns, gain(1).deviation_ns);
  EXPECT_DOUBLE_EQ(gain(1e6).least_share({}), 0);
}

// In numeric order, neighbours are already placed best.
TEST(Evidence, SampledNeighboursAreNotSeparated) {
  constexpr int seeds = 100;
  Scene truth(synthetic("pack:2 core:8 pu:1"), line(16));
  int worse = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const double noise : {0.1, 0.3, 0.5}) {
      const Events events = sampled_line(16, 200, noise, seed);
      Scene scene(synthetic("pack:2 core:8 pu:1"), events.counts);
      const Mapping found = tree_mapping(scene.problem()).mapping;
      const Gain gain = gain_of(events, scene.tree(), scene.problem().present, found);
      constexpr double least_gain = 0.03;
      const bool moves =
          examine(events, {}) == Finding::sufficient && gain.least_share({}) >= least_gain;
      if (moves && truth.cost(found) > truth.cost(truth.problem().present)) ++worse;
    }
  }
  EXPECT_EQ(worse, 0);
}

}  // namespace
}  // namespace huddle::mapping::test

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/network/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace huddle::network {
namespace {

constexpr double unlimited = std::numeric_limits<double>::max();

std::vector<std::size_t> all_of(const Flows& flows) {
  std::vector<std::size_t> all(flows.count());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<double> rates(const Flows& flows, const std::vector<double>& capacity) {
  std::vector<double> rates;
  for (const Share& share : max_min(flows, all_of(flows), capacity)) {
    rates.push_back(share.gb_per_s);
  }
  return rates;
}

TEST(MaxMin, TwoFlowsShareALinkFairly) {
  Flows flows;
  flows.add(1000, unlimited, std::vector{0});
  flows.add(1000, unlimited, std::vector{0});
  EXPECT_THAT(rates(flows, {10}), testing::ElementsAre(5, 5));
}

TEST(MaxMin, UnusedBandwidthGoesToOtherFlows) {
  Flows flows;
  flows.add(1000, 2, std::vector{0});
  flows.add(1000, unlimited, std::vector{0, 1});
  flows.add(1000, unlimited, std::vector{0});
  EXPECT_THAT(rates(flows, {10, 3}), testing::ElementsAre(2, 3, 5));
}

TEST(MaxMin, ReportsTheLimitOfAFlow) {
  Flows flows;
  flows.add(1000, 2, std::vector{0});
  flows.add(1000, unlimited, std::vector{0, 1});
  const std::vector<Share> shares = max_min(flows, all_of(flows), std::vector<double>{10, 3});
  EXPECT_EQ(shares[0].held_by, own_limit);
  EXPECT_EQ(shares[1].held_by, 1);
}

struct Case {
  Flows flows;
  std::vector<double> capacity;
};

Case any_case(bool same_size) {
  Case any;
  const int links = *rc::gen::inRange(1, 8);
  for (int link = 0; link < links; ++link) any.capacity.push_back(*rc::gen::inRange(1, 20));
  const int count = *rc::gen::inRange(1, 12);
  const double size = *rc::gen::inRange(1, 1000);
  for (int flow = 0; flow < count; ++flow) {
    std::vector<int> passed;
    for (int link = 0; link < links; ++link) {
      if (*rc::gen::inRange(0, 3) == 0) passed.push_back(link);
    }
    const double limit = *rc::gen::inRange(1, 30);
    any.flows.add(same_size ? size : *rc::gen::inRange(1, 1000), limit, passed);
  }
  return any;
}

// The simplest algorithm: repeatedly increases all open flows by the same amount until a link or
// limit is reached, without a queue and numbering of links.
std::vector<double> reference(const Case& any) {
  const std::size_t count = any.flows.count();
  std::vector<double> rate(count, 0);
  std::vector<bool> open(count, true);
  std::vector<double> left = any.capacity;
  while (std::count(open.begin(), open.end(), true) > 0) {
    double step = unlimited;
    for (std::size_t flow = 0; flow < count; ++flow) {
      if (open[flow]) step = std::min(step, any.flows.most_gb_per_s(flow) - rate[flow]);
    }
    std::vector<int> passers(left.size(), 0);
    for (std::size_t flow = 0; flow < count; ++flow) {
      for (const int link : any.flows.links(flow)) {
        passers[static_cast<std::size_t>(link)] += open[flow];
      }
    }
    for (std::size_t link = 0; link < left.size(); ++link) {
      if (passers[link] > 0) step = std::min(step, left[link] / passers[link]);
    }
    for (std::size_t link = 0; link < left.size(); ++link) left[link] -= step * passers[link];
    for (std::size_t flow = 0; flow < count; ++flow) {
      if (open[flow]) rate[flow] += step;
    }
    for (std::size_t flow = 0; flow < count; ++flow) {
      const auto links = any.flows.links(flow);
      const bool full = std::any_of(links.begin(), links.end(), [&left](int link) {
        return left[static_cast<std::size_t>(link)] < 1e-9;
      });
      if (full || any.flows.most_gb_per_s(flow) - rate[flow] < 1e-9) open[flow] = false;
    }
  }
  return rate;
}

void expect_near(double seen, double expected) {
  RC_ASSERT(std::abs(seen - expected) <= 1e-6 * std::max(1.0, expected));
}

RC_GTEST_PROP(MaxMinProperty, MatchesReference, ()) {
  const Case any = any_case(false);
  const std::vector<double> expected = reference(any);
  const std::vector<double> seen = rates(any.flows, any.capacity);
  for (std::size_t flow = 0; flow < seen.size(); ++flow) expect_near(seen[flow], expected[flow]);
}

RC_GTEST_PROP(MaxMinProperty, NoLinkExceedsItsCapacity, ()) {
  const Case any = any_case(false);
  const std::vector<double> seen = rates(any.flows, any.capacity);
  std::vector<double> load(any.capacity.size(), 0);
  for (std::size_t flow = 0; flow < seen.size(); ++flow) {
    RC_ASSERT(seen[flow] <= any.flows.most_gb_per_s(flow));
    for (const int link : any.flows.links(flow)) load[static_cast<std::size_t>(link)] += seen[flow];
  }
  for (std::size_t link = 0; link < load.size(); ++link) {
    RC_ASSERT(load[link] <= any.capacity[link] * (1 + 1e-9));
  }
}

// Recomputes the shares whenever a flow ends.
std::vector<double> through_reference(const Case& any) {
  std::vector<double> left;
  std::vector<double> end(any.flows.count(), 0);
  std::vector<std::size_t> open = all_of(any.flows);
  for (const std::size_t flow : open) left.push_back(any.flows.bytes(flow));
  for (double now = 0; !open.empty();) {
    const std::vector<Share> shares = max_min(any.flows, open, any.capacity);
    double step = unlimited;
    for (std::size_t i = 0; i < open.size(); ++i) {
      step = std::min(step, left[open[i]] / shares[i].gb_per_s);
    }
    now += step;
    std::vector<std::size_t> still;
    for (std::size_t i = 0; i < open.size(); ++i) {
      left[open[i]] -= step * shares[i].gb_per_s;
      end[open[i]] = now;
      if (left[open[i]] > 1e-9) still.push_back(open[i]);
    }
    open = still;
  }
  return end;
}

RC_GTEST_PROP(ThroughProperty, MatchesReference, ()) {
  const Case any = any_case(*rc::gen::arbitrary<bool>());
  const std::vector<double> expected = through_reference(any);
  const std::vector<double> seen = through_ns(any.flows, any.capacity);
  for (std::size_t flow = 0; flow < seen.size(); ++flow) expect_near(seen[flow], expected[flow]);
}

// The last flow on a link cannot end before the link has carried the bytes of all its flows.
RC_GTEST_PROP(ThroughProperty, LinksNeedAtLeastTheTimeOfTheirBytes, ()) {
  const Case any = any_case(false);
  const std::vector<double> seen = through_ns(any.flows, any.capacity);
  std::vector<double> bytes(any.capacity.size(), 0);
  std::vector<double> last(any.capacity.size(), 0);
  for (std::size_t flow = 0; flow < seen.size(); ++flow) {
    for (const int link : any.flows.links(flow)) {
      bytes[static_cast<std::size_t>(link)] += any.flows.bytes(flow);
      double& end = last[static_cast<std::size_t>(link)];
      end = std::max(end, seen[flow]);
    }
  }
  for (std::size_t link = 0; link < bytes.size(); ++link) {
    RC_ASSERT(last[link] * (1 + 1e-9) >= bytes[link] / any.capacity[link]);
  }
}

TEST(Through, RemainingFlowsUseFreedBandwidth) {
  Flows flows;
  flows.add(100, unlimited, std::vector{0});
  flows.add(300, unlimited, std::vector{0});
  EXPECT_THAT(through_ns(flows, std::vector<double>{10}), testing::ElementsAre(20, 40));
}

}  // namespace
}  // namespace huddle::network

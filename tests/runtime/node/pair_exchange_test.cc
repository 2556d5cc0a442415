// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/node/pair_exchange.h"

#include <gtest/gtest.h>

#include <vector>

namespace huddle::node {
namespace {

using memory::CopyKernel;

TEST(PairExchange, WritesLargeResultsNontemporally) {
  const std::vector<Block> blocks = {{0, 100}, {100, 0}, {200, 50}};
  const auto results_of = [&](std::size_t from) {
    const PairExchange::Plan plan{.nontemporal_from = from};
    return PairExchange::with_results(plan, Blocks::listed(blocks), 3).results;
  };
  EXPECT_EQ(results_of(150), CopyKernel::nontemporal);
  EXPECT_EQ(results_of(151), CopyKernel::plain);
  EXPECT_EQ(results_of(PairExchange::Plan::never), CopyKernel::plain);
}

}  // namespace
}  // namespace huddle::node

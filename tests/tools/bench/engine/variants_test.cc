// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/engine/engine_comparisons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "this_machine.h"
#include "tools/bench/engine/team_calls.h"

namespace huddle::bench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> names(const Comparison& comparison) {
  std::vector<std::string> all;
  for (const Entry& entry : comparison.entries) all.push_back(entry.name);
  return all;
}

machine::Machine layered() {
  return machine::generic_machine(
      machine::discover_from_synthetic("pack:2 numa:1 l3:2 core:4 pu:1").topology);
}

Binding sixteen() {
  Binding binding{16, {}};
  for (int pu = 0; pu < 16; ++pu) binding.pus.push_back(pu);
  return binding;
}

TEST(Variants, AreThePapersBarriersAndTheChoice) {
  const Comparison comparison = barrier_variants(layered(), sixteen(), {});
  EXPECT_THAT(names(comparison),
              testing::ElementsAre("huddle's selection", "flat, two queues, packed flags",
                                   "flat, one queue, a cache line per slot",
                                   "levels, one queue, a cache line per slot"));
  for (const Entry& entry : comparison.entries) EXPECT_GT(entry.predicted_ns.value_or(0), 0);
}

TEST(Variants, AreThePapersBroadcastsAndTheChoice) {
  const auto comparisons = bcast_variants(layered(), sixteen(), {});
  ASSERT_EQ(comparisons.size(), 6U);
  EXPECT_EQ(comparisons.front().bytes, 8U);
  EXPECT_THAT(names(comparisons.front()), Contains(HasSubstr("in the flag's cache line")));
  EXPECT_EQ(comparisons.back().bytes, std::size_t{16} << 20);
  const auto large = names(comparisons.back());
  EXPECT_THAT(large, Contains(HasSubstr("1 buffer of 8K")));
  EXPECT_THAT(large, Contains(HasSubstr("buffers of 8K, chain")));
  EXPECT_THAT(large, Contains(HasSubstr("buffers of 8K, 2-ary")));
  // All fifteen readers at a segment on either NUMA node, or four readers at each of four.
  EXPECT_THAT(large, Contains("2 segments of 128K, 15 at once"));
  EXPECT_THAT(large, Contains("4 segments of 128K, 4 at once"));
}

TEST(Variants, ContainEachAllreduceAlgorithmOnce) {
  const auto comparisons = allreduce_variants(layered(), sixteen(), {});
  ASSERT_EQ(comparisons.size(), 5U);
  std::vector<testing::Matcher<std::string>> wanted = {
      "huddle's selection", testing::StartsWith("exchange: "), testing::StartsWith("blocks: "),
      testing::StartsWith("slices: ")};
  if (ranks_may_read()) wanted.push_back(testing::StartsWith("direct: cma, "));
  EXPECT_THAT(names(comparisons[2]), testing::ElementsAreArray(wanted));
  const auto& entries = comparisons[2].entries;
  // The choice is the cheapest of them.
  const auto cheapest = std::min_element(
      entries.begin() + 1, entries.end(),
      [](const Entry& a, const Entry& b) { return a.predicted_ns < b.predicted_ns; });
  EXPECT_EQ(entries.front().predicted_ns, cheapest->predicted_ns);
}

TEST(Variants, CutExchangesIntoTilesOfEachSize) {
  const auto comparisons = alltoall_variants(layered(), sixteen(), {});
  const auto large = names(comparisons.back());
  EXPECT_THAT(large, Contains(HasSubstr("tiles of 4K, paired")));
  EXPECT_THAT(large, Contains(HasSubstr("tiles of 16K, staggered")));
  EXPECT_THAT(large, Not(Contains(HasSubstr("tiles of 1K"))));
}

TEST(Variants, OmitVariantsThatAreEqualForFewRanks) {
  const Binding two{2, {0, 1}};
  for (const Comparison& comparison : bcast_variants(layered(), two, {.quick = true})) {
    EXPECT_THAT(names(comparison), Not(Contains(HasSubstr("4 at once"))));
    EXPECT_THAT(names(comparison), Not(Contains(HasSubstr("chain"))));
  }
}

class VariantsOf : public testing::TestWithParam<int> {};

TEST_P(VariantsOf, RunWithRightResults) {
  const Binding binding{GetParam(), test_pus()};
  const machine::Machine machine = test_machine();
  EXPECT_EQ(hold_quietly(barrier_variants(machine, binding, {.quick = true})).rounds, 1);
  auto comparisons = bcast_variants(machine, binding, {.quick = true});
  comparisons.push_back(std::move(allreduce_variants(machine, binding, {.quick = true}).front()));
  comparisons.push_back(std::move(alltoall_variants(machine, binding, {.quick = true}).front()));
  for (const Comparison& comparison : comparisons) {
    const Result result = hold_quietly(comparison);
    EXPECT_EQ(result.rounds, 1);
    EXPECT_TRUE(std::all_of(result.entries.begin(), result.entries.end(),
                            [](const EntryResult& entry) { return entry.ns.size() == 1; }));
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, VariantsOf, testing::Values(2, 6),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace huddle::bench

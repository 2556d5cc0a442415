// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "contest/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "contest/reading.h"
#include "terms.h"

namespace huddle::contest {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> names(const Contest& contest) {
  std::vector<std::string> all;
  for (const Entry& entry : contest.entries) all.push_back(entry.name);
  return all;
}

machine::Machine layered() {
  return machine::generic_machine(
      machine::discover_from_synthetic("pack:2 numa:1 l3:2 core:4 pu:1").topology);
}

Seating sixteen() {
  Seating seating{16, {}};
  for (int pu = 0; pu < 16; ++pu) seating.pus.push_back(pu);
  return seating;
}

TEST(Variants, AreThePapersBarriers) {
  const Contest contest = barrier_variants(layered(), sixteen(), {});
  EXPECT_THAT(
      names(contest),
      testing::ElementsAre("huddle's choice", "flat, two queues, packed flags",
                           "flat, one queue, a line a slot", "levels, one queue, a line a slot"));
  for (const Entry& entry : contest.entries) EXPECT_GT(entry.predicted_ns.value_or(0), 0);
}

TEST(Variants, AreThePapersBroadcasts) {
  const auto contests = bcast_variants(layered(), sixteen(), {});
  ASSERT_EQ(contests.size(), 6U);
  EXPECT_EQ(contests.front().bytes, 8U);
  EXPECT_THAT(names(contests.front()), Contains(HasSubstr("in the flag's line")));
  EXPECT_EQ(contests.back().bytes, std::size_t{16} << 20);
  const auto large = names(contests.back());
  EXPECT_THAT(large, Contains(HasSubstr("1 buffer of 8K")));
  EXPECT_THAT(large, Contains(HasSubstr("buffers of 8K, chain")));
  EXPECT_THAT(large, Contains(HasSubstr("buffers of 8K, 2-ary")));
  // All fifteen readers at one of the two memories' segments, or four at one of four segments.
  EXPECT_THAT(large, Contains("2 segments of 128K, 15 at once"));
  EXPECT_THAT(large, Contains("4 segments of 128K, 4 at once"));
}

TEST(Variants, AreEachAlgorithmOfAnAllreduceOnce) {
  const auto contests = allreduce_variants(layered(), sixteen(), {});
  ASSERT_EQ(contests.size(), 5U);
  std::vector<testing::Matcher<std::string>> wanted = {
      "huddle's choice", testing::StartsWith("exchange: "), testing::StartsWith("blocks: "),
      testing::StartsWith("slices: ")};
  if (ranks_may_read()) wanted.push_back(testing::StartsWith("direct: cma, "));
  EXPECT_THAT(names(contests[2]), testing::ElementsAreArray(wanted));
  const auto& entries = contests[2].entries;
  // The choice is the cheapest of them.
  const auto cheapest = std::min_element(
      entries.begin() + 1, entries.end(),
      [](const Entry& a, const Entry& b) { return a.predicted_ns < b.predicted_ns; });
  EXPECT_EQ(entries.front().predicted_ns, cheapest->predicted_ns);
}

TEST(Variants, CutExchangesIntoTilesOfEachSize) {
  const auto contests = alltoall_variants(layered(), sixteen(), {});
  const auto large = names(contests.back());
  EXPECT_THAT(large, Contains(HasSubstr("tiles of 4K, paired")));
  EXPECT_THAT(large, Contains(HasSubstr("tiles of 16K, staggered")));
  EXPECT_THAT(large, Not(Contains(HasSubstr("tiles of 1K"))));
}

TEST(Variants, LeaveOutWhatIsTheSameAmongFew) {
  const Seating two{2, {0, 1}};
  for (const Contest& contest : bcast_variants(layered(), two, {.quick = true})) {
    EXPECT_THAT(names(contest), Not(Contains(HasSubstr("4 at once"))));
    EXPECT_THAT(names(contest), Not(Contains(HasSubstr("chain"))));
  }
}

class VariantsOf : public testing::TestWithParam<int> {};

TEST_P(VariantsOf, AreHeldAndChecked) {
  const Seating seating{GetParam(), test_pus()};
  const machine::Machine machine = test_machine();
  EXPECT_EQ(hold_quietly(barrier_variants(machine, seating, {.quick = true})).rounds, 1);
  auto contests = bcast_variants(machine, seating, {.quick = true});
  contests.push_back(std::move(allreduce_variants(machine, seating, {.quick = true}).front()));
  contests.push_back(std::move(alltoall_variants(machine, seating, {.quick = true}).front()));
  for (const Contest& contest : contests) {
    const Result result = hold_quietly(contest);
    EXPECT_EQ(result.rounds, 1);
    EXPECT_TRUE(std::all_of(result.entries.begin(), result.entries.end(),
                            [](const EntryResult& entry) { return entry.ns.size() == 1; }));
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, VariantsOf, testing::Values(2, 6),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace huddle::contest

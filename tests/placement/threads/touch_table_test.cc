// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/touch.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

namespace huddle::threads {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int> take(TouchTable& table, int thread, std::uint64_t page = 7) {
  const auto partners = table.take({.time_ns = 0, .thread = thread, .page = page});
  return {partners.begin(), partners.end()};
}

TEST(TouchTable, CountsWithAllRecentVisitors) {
  TouchTable table(Counting::every_change);
  EXPECT_THAT(take(table, 0), IsEmpty());
  EXPECT_THAT(take(table, 0), IsEmpty());  // still the most recent one
  EXPECT_THAT(take(table, 1), ElementsAre(0));
  EXPECT_THAT(take(table, 2), ElementsAre(1, 0));
  EXPECT_THAT(take(table, 0), ElementsAre(2, 1));  // moves to the front
  EXPECT_THAT(take(table, 3), ElementsAre(0, 2, 1));
  EXPECT_THAT(take(table, 4), ElementsAre(3, 0, 2, 1));
  EXPECT_THAT(take(table, 5), ElementsAre(4, 3, 0, 2));  // 1 is the least recent
  EXPECT_THAT(take(table, 9, 8), IsEmpty());             // another page
}

// A thread that initializes an array soon stops counting with the threads that use it.
TEST(TouchTable, ForgetsThreadsThatDoNotReturn) {
  TouchTable table(Counting::every_change);
  take(table, 0);
  take(table, 1);
  table.age();
  EXPECT_THAT(take(table, 2), ElementsAre(1, 0));
  take(table, 1);
  table.age();
  EXPECT_THAT(take(table, 2), ElementsAre(1));
}

TEST(TouchTable, PagesWithSameEntryReplaceEachOther) {
  TouchTable table(Counting::every_change, Rounds::of_decisions, 1);
  take(table, 0, 7);
  EXPECT_THAT(take(table, 1, 8), IsEmpty());
  EXPECT_EQ(table.replaced(), 1U);
  EXPECT_THAT(take(table, 0, 7), IsEmpty());
  EXPECT_EQ(table.replaced(), 2U);
}

// The flaw of the published method: a pair that alternates on a page is counted only once.
TEST(TouchTable, PublishedMethodCountsPairOncePerPage) {
  TouchTable as_printed(Counting::newcomers);
  TouchTable table(Counting::every_change);
  std::size_t printed = 0;
  std::size_t counted = 0;
  for (int touch = 0; touch < 100; ++touch) {
    printed += take(as_printed, touch % 2).size();
    counted += take(table, touch % 2).size();
  }
  EXPECT_EQ(printed, 1U);
  EXPECT_EQ(counted, 99U);
}

TEST(TouchTable, ForgetsThreadOnAllPages) {
  TouchTable table(Counting::every_change);
  for (const int thread : {0, 1, 2}) take(table, thread);
  take(table, 1, 8);
  table.forget(std::vector{1});
  EXPECT_THAT(take(table, 0), ElementsAre(2));
  EXPECT_THAT(take(table, 0, 8), IsEmpty());
}

// NUMA balancing visits a page every few seconds, with several decisions in between.
TEST(TouchTable, PageRoundsCountVisitsOnly) {
  TouchTable by_decisions(Counting::every_change);
  TouchTable by_pages(Counting::every_change, Rounds::of_pages);
  for (TouchTable* const table : {&by_decisions, &by_pages}) {
    take(*table, 0);  // the thread that initializes it
    std::size_t counted = 0;
    for (int visit = 0; visit < 6; ++visit) {
      for (int decision = 0; decision < 5; ++decision) table->age();
      const auto partners = take(*table, 1 + visit % 2);
      counted += partners.size();
      EXPECT_EQ(std::count(partners.begin(), partners.end(), 0), 0);
    }
    EXPECT_EQ(counted, table == &by_pages ? 5U : 0U);
  }
}

// Compares with the simplest implementation, which has room for all pages.
RC_GTEST_PROP(TouchTable, EqualsListOfLastFourThreadsPerPage, ()) {
  TouchTable table(Counting::every_change);
  std::map<std::uint64_t, std::deque<int>> lists;
  const auto touches = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 7), rc::gen::inRange(0, 5)));
  for (const auto& [thread, page] : touches) {
    std::deque<int>& list = lists[static_cast<std::uint64_t>(page)];
    std::vector<int> expected;
    if (list.empty() || list.front() != thread) {
      for (const int other : list) {
        if (other != thread) expected.push_back(other);
      }
    }
    std::erase(list, thread);
    list.push_front(thread);
    if (list.size() > TouchTable::threads_a_page) list.pop_back();
    RC_ASSERT(take(table, thread, static_cast<std::uint64_t>(page)) == expected);
  }
}

}  // namespace
}  // namespace huddle::threads

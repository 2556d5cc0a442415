// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Compares the words that settings accept with the existing algorithms.
#include "common/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/node/locality.h"
#include "runtime/schedules/algorithms.h"
#include "runtime/select/algorithm.h"

namespace huddle::cli {
namespace {

TEST(AlgorithmWords, AreTheExistingAlgorithms) {
  const auto resources =
      select::team_resources(node::unknown_locality(4), select::usual_queue_bytes);
  ASSERT_EQ(settings::algorithm_words().size(), select::operations.size());
  for (const settings::AlgorithmWords& words : settings::algorithm_words()) {
    const auto operation = select::operation_named(words.operation);
    ASSERT_TRUE(operation) << words.operation;
    std::vector<std::string_view> names;
    for (const auto& one : select::algorithms(*operation, resources)) names.push_back(one.name);
    const std::vector<std::string_view> known(words.algorithms.begin(), words.algorithms.end());
    EXPECT_THAT(known, ::testing::UnorderedElementsAreArray(names)) << words.operation;
    const bool has_size =
        *operation != select::Operation::barrier && !select::has_pairwise_sizes(*operation);
    EXPECT_EQ(words.has_size, has_size) << words.operation;
  }
}

TEST(ScheduleWords, AreTheSchedulesWithADeterministicOrder) {
  // Between nodes, a scan uses the schedules of exscan.
  ASSERT_EQ(settings::schedule_words().size() + 1, schedules::operations.size());
  for (const settings::AlgorithmWords& words : settings::schedule_words()) {
    std::vector<std::string_view> names;
    for (const schedules::Algorithm& one : schedules::algorithms()) {
      if (one.operation != schedules::operation_named(words.operation)) continue;
      if (one.order != schedules::Order::free) names.push_back(one.name);
    }
    const std::vector<std::string_view> known(words.algorithms.begin(), words.algorithms.end());
    EXPECT_EQ(known, names) << words.operation;
    EXPECT_FALSE(words.has_size) << words.operation;
  }
}

}  // namespace
}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "net/check.h"

#include <gtest/gtest.h>

#include "proofs.h"

namespace huddle::net {
namespace {

class EveryAlgorithm : public ::testing::TestWithParam<Algorithm> {};

TEST_P(EveryAlgorithm, IsProvenForUpTo256Ranks) {
  for (int ranks = 1; ranks <= 256; ++ranks) {
    const int roots = has_root(GetParam().operation) ? ranks : 1;
    for (int root = 0; root < roots; ++root) {
      for (const Call& call : calls_of(GetParam(), {.ranks = ranks, .root = root})) {
        const std::string flaw = flaw_of(GetParam(), call);
        ASSERT_EQ(flaw, "");
      }
    }
  }
}

TEST_P(EveryAlgorithm, HasAlikeRoundsWhereItSaysSo) {
  for (const int ranks : {1, 2, 3, 7, 8, 13, 16, 33, 64}) {
    for (const Call& call : calls_of(GetParam(), {.ranks = ranks})) {
      EXPECT_EQ(unlike_rounds(*make_schedule(GetParam(), call)), std::nullopt)
          << told(GetParam(), call);
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<Algorithm>& info) {
  std::string name = info.param.full_name();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ':' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Net, EveryAlgorithm,
                         ::testing::ValuesIn(algorithms().begin(), algorithms().end()), name_of);

}  // namespace
}  // namespace huddle::net

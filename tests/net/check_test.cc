// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "net/check.h"

#include <gtest/gtest.h>

#include "proofs.h"

namespace huddle::net {
namespace {

class EveryAlgorithm : public ::testing::TestWithParam<Algorithm> {};

// All, where that is not too much work; otherwise the first, the last and some between.
std::vector<int> roots_of(const Algorithm& algorithm, int ranks, std::minstd_rand& random) {
  if (!has_root(algorithm.operation)) return {0};
  const Claim claim = make_schedule(algorithm, {.ranks = ranks})->claim(ranks - 1);
  constexpr std::int64_t most = 1 << 21;
  std::vector<int> roots;
  if (ranks <= 256 && claim.rounds * ranks * ranks <= most) {
    for (int root = 0; root < ranks; ++root) roots.push_back(root);
    return roots;
  }
  roots = {0, ranks - 1};
  for (int i = 0; i < 3; ++i)
    roots.push_back(static_cast<int>(random() % static_cast<unsigned>(ranks)));
  return roots;
}

// NET_RANKS=FIRST..LAST tries all of these.
std::vector<int> rank_counts(std::minstd_rand& random) {
  int first = 1;
  int last = 64;
  std::vector<int> counts;
  if (const char* const asked = std::getenv("NET_RANKS"))
    std::sscanf(asked, "%d..%d", &first, &last);
  for (int ranks = first; ranks <= last; ++ranks) counts.push_back(ranks);
  (void)random;
  return counts;
}

void prove(const Algorithm& algorithm, int ranks, std::minstd_rand& random) {
  for (const int root : roots_of(algorithm, ranks, random)) {
    const auto calls = calls_of(algorithm, {.ranks = ranks, .root = root});
    // Few ranks with all numbers that matter, more of them with one after the other.
    constexpr int few = 40;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (ranks > few && static_cast<std::size_t>(ranks + root) % calls.size() != i) continue;
      ASSERT_EQ(flaw_of(algorithm, calls[i]), "");
    }
  }
}

TEST_P(EveryAlgorithm, IsProven) {
  std::minstd_rand random(20261124);
  for (const int ranks : rank_counts(random)) prove(GetParam(), ranks, random);
}

TEST_P(EveryAlgorithm, KeepsItsHints) {
  for (const int ranks : {1, 2, 3, 7, 8, 13, 16, 33, 64}) {
    for (const Call& call : calls_of(GetParam(), {.ranks = ranks})) {
      EXPECT_EQ(flaw_in_hints(*make_schedule(GetParam(), call)), std::nullopt)
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

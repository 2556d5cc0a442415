// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/bandwidth.h"

#include <gtest/gtest.h>

#include "model/machine/machine_file.h"
#include "scene.h"

namespace huddle::mapping::test {
namespace {

class Bandwidth : public ::testing::Test {
 protected:
  // Returns `count` hardware threads, starting from 0 with stride `step`.
  static std::vector<int> pus(int count, int step = 1) {
    std::vector<int> numbers;
    for (int i = 0; i < count; ++i) numbers.push_back(i * step);
    return numbers;
  }
  double rate(const std::vector<int>& numbers) const { return *memory_gb_per_s(model_, numbers); }

  machine::Machine machine_ =
      machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/epyc-2x64-estimate.toml");
  machine::CostModel model_{machine_};
};

// From the curves of that file: a copy of 268435456 bytes takes 20.65 ms alone and 92.56 ms with
// eight per L3.
constexpr double copied_bytes = 268435456;
TEST_F(Bandwidth, FollowsCurvesOfMostContendedLevel) {
  EXPECT_NEAR(rate({0}), copied_bytes / 20.65e6, 0.01);
  EXPECT_NEAR(rate(pus(8)), 8 * copied_bytes / 92.56e6, 0.1);
  EXPECT_NEAR(rate(pus(8, 16)), 8 * copied_bytes / 20.65e6, 0.1);
  EXPECT_NEAR(rate(pus(128)), 128 * copied_bytes / 145.1e6, 0.5);
}

TEST_F(Bandwidth, OneSocketOfTwoProvidesHalf) {
  EXPECT_NEAR(rate(pus(64)) / rate(pus(128)), 0.5, 0.03);
}

TEST_F(Bandwidth, SumsOverAllNodesOfPlacement) {
  const SlotTree tree(model_, {pus(8), 2, 1000});
  const Mapping one_node = {0, 1, 2, 3};
  const Mapping both = {0, 1, 2, 3, 8, 9, 10, 11};
  EXPECT_NEAR(*memory_gb_per_s(model_, tree, both), 2 * *memory_gb_per_s(model_, tree, one_node),
              1e-9);
}

TEST_F(Bandwidth, IsUnknownWithoutCurvesOfSeveralCopiers) {
  machine::Machine bare = machine_;
  std::erase_if(bare.copy, [](const machine::CopyCurve& copy) { return copy.copiers > 1; });
  const machine::CostModel model(bare);
  EXPECT_EQ(memory_gb_per_s(model, pus(8)), std::nullopt);
  EXPECT_FALSE(uses_less(memory_use(model, pus(8)), memory_use(model, pus(8, 2))));
  EXPECT_TRUE(uses_less(memory_use(model, pus(8)), memory_use(model, pus(8, 16))));
}

TEST_F(Bandwidth, UsesLessWithFewerNumaNodesOrMoreContendedCaches) {
  const auto less = [this](const std::vector<int>& after, const std::vector<int>& before) {
    return uses_less(memory_use(model_, after), memory_use(model_, before));
  };
  EXPECT_TRUE(less(pus(8), pus(8, 16)));                  // one NUMA node instead of eight
  EXPECT_TRUE(less(pus(8), {0, 1, 2, 3, 8, 9, 10, 11}));  // one L3 instead of two
  EXPECT_FALSE(less(pus(8, 16), pus(8)));
  EXPECT_FALSE(less({8, 9, 10, 11}, {0, 1, 2, 3}));
}

}  // namespace
}  // namespace huddle::mapping::test

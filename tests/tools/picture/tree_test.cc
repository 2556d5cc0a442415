// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/tree.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "machines.h"
#include "tools/picture/layout.h"

namespace huddle::picture {
namespace {

using testing::ElementsAre;

const Marks marks = {"*", ".", "x"};

std::vector<std::string> labels(const Node& node) {
  if (node.kind != NodeKind::box) return {node.label};
  std::vector<std::string> all;
  for (const Node& child : node.children) {
    const std::vector<std::string> inner = labels(child);
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

RC_GTEST_PROP(Tree, ShowsEveryProcessorOnce, ()) {
  const machine::Topology topology = any_topology();
  const Node tree = make_tree(topology, {{}, {}, *rc::gen::arbitrary<bool>()});
  const Node shown = folded(tree, *rc::gen::inRange(0, box_depth(tree) + 1));
  std::vector<int> processors = shown_processors(shown);
  std::sort(processors.begin(), processors.end());
  RC_ASSERT(processors == topology.pus.cpus());
}

RC_GTEST_PROP(Tree, CellsHaveTheRightAllowance, ()) {
  const machine::Topology topology = any_topology();
  const machine::CpuSet allowed = any_allowed(topology);
  const Node tree = make_tree(topology, {allowed, marks, false});
  const auto check = [&](const auto& self, const Node& node) -> void {
    if (node.kind == NodeKind::core) {
      const int ours = common(node.cpus, allowed).count();
      RC_ASSERT((node.allowance == Allowance::all) == (ours == node.cpus.count()));
      RC_ASSERT((node.allowance == Allowance::none) == (ours == 0));
      const auto stars = std::count(node.label.begin(), node.label.end(), '*');
      RC_ASSERT(stars == (node.allowance == Allowance::all ? 1 : ours));
    }
    for (const Node& child : node.children) self(self, child);
  };
  check(check, tree);
}

TEST(Tree, MergesLevelsWithTheSameHardwareThreads) {
  const Subject subject = synthetic("pack:2 l3:1 l2:2 core:1 pu:2");
  const Node tree = make_tree(subject.machine.topology, {});
  ASSERT_EQ(tree.children.size(), 2U);
  EXPECT_THAT(tree.children[0].titles, ElementsAre("package 0", "L3 16M"));
  EXPECT_EQ(tree.children[0].level, "package");
  EXPECT_THAT(labels(tree), ElementsAre("0-1", "2-3", "4-5", "6-7"));
}

TEST(Tree, CoresHaveTheirPrivateCachesInTheirTitle) {
  const Subject subject = synthetic("l3:1 l2:2 core:1 pu:1");
  const Node tree = make_tree(subject.machine.topology, {{}, {}, true});
  ASSERT_EQ(tree.children.size(), 2U);
  EXPECT_THAT(tree.children[1].titles, ElementsAre("core 1", "L2 4M"));
  EXPECT_THAT(own_caches(subject.machine.topology), ElementsAre("each core: L2 4M"));
}

TEST(Tree, MarksHybridOfflineAndMemory) {
  const Subject subject = hybrid();
  const Node tree = make_tree(subject.machine.topology, {subject.allowed, marks, false});
  EXPECT_THAT(labels(tree), ElementsAre("*P0-1", "*P2-3", ".E4", ".E5", ".E6", ".E7",
                                        "NUMA 1 hbm 4G", "xoffline 8-9"));
  EXPECT_THAT(tree.titles, ElementsAre("machine 16G", "L3 24M"));
}

TEST(Tree, MarksEachThreadIfTheyDiffer) {
  const Subject subject = synthetic("core:2 pu:2");
  const Node tree = make_tree(subject.machine.topology, {machine::CpuSet({1, 2, 3}), marks, false});
  EXPECT_THAT(labels(tree), ElementsAre(".0,*1", "*2-3"));
}

TEST(Tree, HasNoMarksForAnotherMachine) {
  const Node tree = make_tree(synthetic("core:2 pu:1").machine.topology, {{}, marks, false});
  EXPECT_THAT(labels(tree), ElementsAre("0", "1"));
}

TEST(Fold, KeepsTheFirstAndNamesTheOthers) {
  const Subject subject = synthetic("pack:3 core:2 pu:1");
  const Node tree = folded(make_tree(subject.machine.topology, {}), 1);
  ASSERT_EQ(tree.children.size(), 2U);
  EXPECT_EQ(tree.children[1].titles.front(), "2 more like package 0");
  EXPECT_THAT(labels(tree), ElementsAre("0", "1", "package 1 (2-3)", "package 2 (4-5)"));
}

TEST(Fold, DoesNotHideDifferentAllowances) {
  const Subject subject = synthetic("pack:3 core:2 pu:1");
  const Node tree =
      folded(make_tree(subject.machine.topology, {machine::CpuSet({0, 1, 2}), marks, false}), 1);
  EXPECT_EQ(tree.children.size(), 3U);
}

TEST(Legend, CountsAllowedHardwareThreads) {
  const Subject subject = hybrid();
  std::vector<std::string> words;
  for (const LegendItem& item : legend_of(subject.machine.topology, subject.allowed, false)) {
    words.push_back(item.text);
  }
  EXPECT_THAT(words, ElementsAre("4 of 8 hardware threads allowed", "not allowed", "2 offline",
                                 "E efficient (4-7)", "P performance (0-3)",
                                 "each performance core: L2 1M"));
}

}  // namespace
}  // namespace huddle::picture

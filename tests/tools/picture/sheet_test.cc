// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/sheet.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "machines.h"

namespace huddle::picture {
namespace {

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

std::vector<Rect> rectangles(const Sheet& sheet) {
  std::vector<Rect> all = {sheet.tree_place, sheet.map, sheet.bar};
  for (const PlacedText& text : sheet.texts) all.push_back(text.rect);
  for (const PlacedLegend& legend : sheet.legend) all.push_back(legend.rect);
  std::erase_if(all, [](const Rect& rect) { return rect.width == 0 || rect.height == 0; });
  return all;
}

void expect_tidy(const Sheet& sheet) {
  const std::vector<Rect> all = rectangles(sheet);
  for (std::size_t i = 0; i < all.size(); ++i) {
    RC_ASSERT(all[i].x >= 0);
    RC_ASSERT(all[i].y >= 0);
    RC_ASSERT(all[i].right() <= sheet.width);
    RC_ASSERT(all[i].bottom() <= sheet.height);
    for (std::size_t j = 0; j < i; ++j) RC_ASSERT(!overlap(all[i], all[j]));
  }
}

RC_GTEST_PROP(Sheet, NothingOverlapsAndAllFits, ()) {
  const machine::Topology topology = any_topology();
  Subject subject{with_latencies(topology), any_allowed(topology), ""};
  subject.machine.doubts = {{"pair 0-1", "two humps"}};
  expect_tidy(plan_sheet(subject));
}

TEST(Sheet, CellsAreWholePoints) {
  const Sheet sheet = plan_sheet(synthetic("pack:2 numa:4 l3:2 core:8 pu:2"));
  EXPECT_EQ(sheet.blocks.size(), 128);
  EXPECT_EQ(sheet.map.width, 128 * sheet.cell());
  EXPECT_EQ(sheet.map.width, sheet.map.height);
  EXPECT_FALSE(sheet.numbers);
}

TEST(Sheet, OneCoreHasNoMap) {
  const Sheet sheet = plan_sheet(synthetic("core:1 pu:1"));
  EXPECT_EQ(sheet.map.width, 0);
  EXPECT_EQ(sheet.blocks.size(), 0);
}

TEST(Sheet, IsReproducible) {
  const Subject subject = hybrid();
  const std::string svg = as_svg(subject);
  as_svg(synthetic("pack:2 core:2 pu:1"));  // an earlier drawing must not affect the next one
  EXPECT_TRUE(as_svg(subject) == svg);
}

TEST(Sheet, FitsANarrowWindow) {
  const std::string svg = as_svg(hybrid());
  const std::string root = svg.substr(svg.find("<svg "), svg.find('>', svg.find("<svg ")));
  EXPECT_THAT(root, testing::HasSubstr("style=\"max-width:100%;height:auto\""));
  EXPECT_THAT(root, testing::HasSubstr("viewBox="));
}

TEST(Sheet, LargeMachineHasASmallFile) {
  const std::string svg = as_svg(synthetic("pack:2 numa:4 l3:2 core:8 pu:1"));
  // 128 cores have 16,384 cells in few colors.
  EXPECT_LT(svg.size(), 64U * 1024);
}

}  // namespace
}  // namespace huddle::picture

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/picture/layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "machines.h"
#include "tools/picture/sheet.h"

namespace huddle::picture {
namespace {

bool overlap(const Placed& a, const Placed& b) {
  return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
}

bool inside_frame(const Placed& inner, const Placed& outer) {
  return inner.x > outer.x && inner.right() < outer.right() && inner.y > outer.y &&
         inner.bottom() < outer.bottom();
}

void check_box(const Node& box, std::map<const Node*, const Placed*>& places) {
  for (std::size_t i = 0; i < box.children.size(); ++i) {
    const Placed& child = *places.at(&box.children[i]);
    RC_ASSERT(inside_frame(child, *places.at(&box)));
    for (std::size_t j = 0; j < i; ++j) {
      RC_ASSERT(!overlap(child, *places.at(&box.children[j])));
    }
    check_box(box.children[i], places);
  }
}

void check(const Node& root, const Metrics& metrics, int columns) {
  const Layout layout = lay_out(root, metrics, columns);
  std::map<const Node*, const Placed*> places;
  for (const Placed& placed : layout.placed) places[placed.node] = &placed;
  RC_ASSERT(layout.width <= columns);
  RC_ASSERT(layout.height == layout.placed.front().height);
  check_box(root, places);
}

RC_GTEST_PROP(Layout, NothingOverlapsAndAllFits, ()) {
  const machine::Topology topology = any_topology();
  const TreeOptions options{any_allowed(topology), {"*", ".", "x"}, *rc::gen::arbitrary<bool>()};
  const Node tree = make_tree(topology, options);
  const Node shown = folded(tree, *rc::gen::inRange(0, box_depth(tree) + 1));
  Metrics narrow;
  narrow.side = 1;
  check(shown, narrow, *rc::gen::inRange(40, 60));
  check(shown, Metrics{}, *rc::gen::inRange(60, 250));
  check(shown, sheet_metrics(), *rc::gen::inRange(400, 1400));
}

TEST(Layout, RowsAreBalanced) {
  // Eight cells where five fit in a row: four and four.
  const Subject subject = synthetic("l3:1 core:8 pu:1");
  const Node tree = make_tree(subject.machine.topology, {});
  const Layout layout = lay_out(tree, Metrics{}, 2 * 2 + 9);
  std::map<int, int> cells_in_row;
  for (const Placed& placed : layout.placed) {
    if (placed.node->kind == NodeKind::core) ++cells_in_row[placed.y];
  }
  ASSERT_EQ(cells_in_row.size(), 2U);
  EXPECT_EQ(cells_in_row.begin()->second, 4);
}

TEST(Layout, EightCoresAreTwoRowsOfFour) {
  // In the second socket, "core 8" to "core 15" have names of two lengths.
  const Subject subject = synthetic("pack:2 core:8 pu:2");
  const Node tree = make_tree(subject.machine.topology, {{}, {}, true});
  const Layout layout = lay_out(tree, Metrics{}, 110);
  std::map<int, int> cores_in_row;
  std::map<int, int> cores_in_column;
  for (const Placed& placed : layout.placed) {
    if (placed.node->kind != NodeKind::box || placed.node->level != "core") continue;
    ++cores_in_row[placed.y];
    ++cores_in_column[placed.x];
  }
  ASSERT_EQ(cores_in_row.size(), 2U);
  EXPECT_EQ(cores_in_row.begin()->second, 8);  // of both sockets, side by side
  ASSERT_EQ(cores_in_column.size(), 8U);
  EXPECT_EQ(cores_in_column.begin()->second, 2);
}

TEST(Layout, SmallBoxesAreSideBySide) {
  const Subject subject = synthetic("pack:2 core:2 pu:1");
  const Node tree = make_tree(subject.machine.topology, {});
  const Layout wide = lay_out(tree, Metrics{}, 80);
  const Layout narrow = lay_out(tree, Metrics{}, 20);
  EXPECT_EQ(wide.height, 5);
  EXPECT_EQ(narrow.height, 8);
}

}  // namespace
}  // namespace huddle::picture

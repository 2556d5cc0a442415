// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Line and bar charts as SVG documents. Equal charts give equal bytes.
#pragma once

#include <string>
#include <vector>

namespace huddle::picture {

// A chart whose axes are both logarithmic and begin at a power of two.
// Requires: all values are at least 1.
struct LineChart {
  struct Point {
    double across = 0;
    double up = 0;
  };
  struct Line {
    std::string name;
    std::vector<Point> points;  // from left to right
  };

  std::string title;
  std::string across;
  std::string up;
  std::vector<Line> lines;
};
std::string as_svg(const LineChart& chart);

// Horizontal bars. A bar may have several parts, the same number in all bars of a group.
struct BarChart {
  struct Bar {
    std::string name;
    std::vector<double> parts;
    std::string text;  // after the bar
  };
  struct Group {
    std::string heading;
    std::vector<std::string> part_names;  // empty if bars have one part
    std::vector<Bar> bars;
  };

  std::string title;
  std::vector<Group> groups;
};
std::string as_svg(const BarChart& chart);

}  // namespace huddle::picture

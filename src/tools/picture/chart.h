// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Figures as lines or bars on a sheet. The same chart gives the same bytes.
#pragma once

#include <string>
#include <vector>

namespace huddle::picture {

// Both axes are logarithmic and begin at a power of two. pre: all values are 1 or more.
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

// Bars below one another; each may have several parts, as many in all bars of a group.
struct BarChart {
  struct Bar {
    std::string name;
    std::vector<double> parts;
    std::string text;  // behind it
  };
  struct Group {
    std::string heading;
    std::vector<std::string> part_names;  // none where bars have one part
    std::vector<Bar> bars;
  };

  std::string title;
  std::vector<Group> groups;
};
std::string as_svg(const BarChart& chart);

}  // namespace huddle::picture

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/paths_report.h"

#include <fmt/format.h>

#include "common/text.h"
#include "tools/cli/table.h"
#include "tools/cli/wrap.h"

namespace huddle::cli {
namespace {

std::string rate_text(double bytes, double ns) { return fmt::format("{:.3g}", bytes / ns); }

std::string taken_text(const PathPoint& point, const Taken& taken) {
  const double fastest_ns = point.ways[point.fastest].ns;
  return taken.ns <= fastest_ns ? taken.way
                                : fmt::format("{} ({:.2f}x)", taken.way, taken.ns / fastest_ns);
}

// From which size on another way is the fastest.
std::string crossings_text(const Paths& paths) {
  std::string text;
  const PathPoint* before = nullptr;
  for (const PathPoint& point : paths.points) {
    const std::string& fastest = point.ways[point.fastest].name;
    if (before == nullptr) {
      text = fmt::format("The fastest is {}", fastest);
    } else if (fastest != before->ways[before->fastest].name) {
      text += fmt::format(", from {} on {}", size_text(point.bytes), fastest);
    }
    before = &point;
  }
  return text + ".\n";
}

}  // namespace

std::string paths_text(const Paths& paths, int columns) {
  std::string text = fmt::format("{}, {}{}: GB/s of a rank\n", paths.machine,
                                 counted(paths.ranks, "rank"), paths.ranks > 1 ? " at once" : "");
  Table::Row heading = {"message"};
  for (const Way& way : paths.points.front().ways) heading.push_back(way.name);
  heading.emplace_back("fastest");
  for (const Taken& taken : paths.points.front().ucx)
    heading.push_back("UCX " + taken.from_version);
  Table table(heading, {.indent = 2});
  for (const PathPoint& point : paths.points) {
    Table::Row row = {size_text(point.bytes)};
    for (const Way& way : point.ways) row.push_back(rate_text(point.bytes, way.ns));
    row.push_back(point.ways[point.fastest].name);
    for (const Taken& taken : point.ucx) row.push_back(taken_text(point, taken));
    table.add(row);
  }
  text += table.text(columns) + crossings_text(paths);
  if (!paths.points.front().ucx.empty()) {
    text += wrap(
        "",
        "copied: into shared memory and out again. UCX, from that version on: the way that it "
        "selects by its constants, and how many times the fastest way's time that takes. It copies "
        "messages below about 8K ('eager'), and up to 256K those that a blocking send should "
        "complete soon; the others the receiver reads. 'huddle ucx' writes settings with these "
        "figures in place of the constants.",
        0, columns);
  }
  if (!paths.is_measured) text += "Some of these figures are estimated, not measured.\n";
  return text;
}

}  // namespace huddle::cli

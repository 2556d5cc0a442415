// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <algorithm>
#include <string>
#include <vector>

#include "common/text.h"
#include "tools/cli/bench/bench_report.h"
#include "tools/cli/bench/guidelines_report.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

using bench::Guideline;
using bench::GuidelinePoint;
using bench::GuidelineResult;
using bench::GuidelineSide;
using bench::GuidelineVerdict;
using bench::Side;

std::string_view shown_name(Side side) { return side == Side::huddle ? "huddle" : "MPI"; }

std::string shown_size(const GuidelinePoint& point) {
  return point.guideline.operation == select::Operation::barrier
             ? "-"
             : size_text(static_cast<double>(point.bytes));
}

std::vector<Guideline> guidelines_in(const std::vector<GuidelinePoint>& points) {
  std::vector<Guideline> all;
  for (const GuidelinePoint& point : points) {
    if (all.empty() || all.back() != point.guideline) all.push_back(point.guideline);
  }
  return all;
}

std::string heading(const GuidelinesReport& report, int columns) {
  return wrap("", machine_text(report.machine, report.machine_file), 0, columns) +
         wrap("",
              fmt::format("{} ranks{} under {}; {}", report.ranks,
                          report.measured.oversubscribed ? " (more than cores)" : "",
                          report.measured.mpi,
                          report.in_heap ? "buffers in the shared heap (heap on)"
                                         : "buffers in private memory (heap off)"),
              0, columns) +
         wrap("",
              fmt::format("ratio: time of the call divided by the time of its mock-up; a guideline "
                          "is violated if the 95 % interval lies above {:.2f} in two measurements",
                          1 + report.tolerance),
              0, columns);
}

// The findings for one guideline and side over all sizes.
struct Summary {
  double worst = 0;
  int violated = 0;
  int open = 0;
};

Summary summary_of(const GuidelinesReport& report, const Guideline& guideline, Side side) {
  Summary summary;
  for (const GuidelineResult& result : report.measured.results) {
    if (result.point.guideline != guideline) continue;
    const GuidelineSide& one = result.of(side);
    summary.worst = std::max(summary.worst, one.estimate.ratio);
    if (one.verdict == GuidelineVerdict::violated) ++summary.violated;
    if (one.verdict == GuidelineVerdict::open) ++summary.open;
  }
  return summary;
}

std::string summary_table(const GuidelinesReport& report, int columns) {
  Table table({"guideline", "MPI", "violated", "open", "huddle", "violated", "open"}, {});
  for (const Guideline& guideline : guidelines_in(report.points)) {
    Table::Row row = {text(guideline)};
    for (const Side side : {Side::native, Side::huddle}) {
      const Summary summary = summary_of(report, guideline, side);
      if (summary.worst == 0) break;  // interrupted before its first point
      row.insert(row.end(), {fmt::format("{:.2f}", summary.worst),
                             fmt::format("{}", summary.violated), fmt::format("{}", summary.open)});
    }
    if (row.size() > 1) table.add(std::move(row));
  }
  return '\n' + table.text(columns) +
         wrap("",
              "The ratio is that of the worst size; violated and open: the number of sizes. Open: "
              "the measurement does not decide.",
              0, columns);
}

std::string violation_table(const GuidelinesReport& report, int columns) {
  Table table({"violated", "by", "size", "call", "mock-up", "ratio", "95 %", ""}, {});
  for (const GuidelineResult& result : report.measured.results) {
    for (const Side side : {Side::native, Side::huddle}) {
      const GuidelineSide& one = result.of(side);
      if (one.verdict != GuidelineVerdict::violated) continue;
      table.add({text(result.point.guideline), std::string(shown_name(side)),
                 shown_size(result.point), time_text(one.call_ns), time_text(one.mockup_ns),
                 fmt::format("{:.2f}", one.estimate.ratio),
                 fmt::format("{:.2f}-{:.2f}", one.estimate.low, one.estimate.high),
                 one.passed > 0 ? "=" : ""});
    }
  }
  return '\n' + table.text(columns);
}

// Returns the number of points at which calls of huddle fell back to the MPI.
long long passed_points(const GuidelinesReport& report) {
  return std::count_if(
      report.measured.results.begin(), report.measured.results.end(),
      [](const GuidelineResult& result) { return result.of(Side::huddle).passed > 0; });
}

std::string conclusion(const GuidelinesReport& report, int columns) {
  const auto count = [&report](Side side, GuidelineVerdict verdict) {
    return report.measured.count(side, verdict);
  };
  const auto points = static_cast<long long>(report.measured.results.size());
  return '\n' +
         wrap("",
              fmt::format("huddle violates {1} of {0}, the MPI {2}; {3} and {4} are open.",
                          counted(points, "point"), count(Side::huddle, GuidelineVerdict::violated),
                          count(Side::native, GuidelineVerdict::violated),
                          count(Side::huddle, GuidelineVerdict::open),
                          count(Side::native, GuidelineVerdict::open)),
              0, columns);
}

std::string dry_run_text(const GuidelinesReport& report, int columns) {
  const std::vector<Guideline> guidelines = guidelines_in(report.points);
  std::string all;
  for (const Guideline& guideline : guidelines) all += wrap("", text(guideline), 2, columns);
  const double seconds = report.effort.point_seconds * static_cast<double>(report.points.size());
  return all +
         wrap("",
              fmt::format("{} at {} with sizes {} on {} ranks. n: bytes of a message or block; p: "
                          "number of ranks; local: a copy or reduction by each rank. The "
                          "measurement would take at most {:.0f} s, and at "
                          "most twice as long if all are violated.",
                          counted(static_cast<long long>(guidelines.size()), "guideline"),
                          counted(static_cast<long long>(report.points.size()), "point"),
                          report.sizes, report.ranks, seconds),
              0, columns);
}

}  // namespace

std::string guidelines_text(const GuidelinesReport& report, int columns) {
  if (report.dry_run) return dry_run_text(report, columns);
  std::string all = heading(report, columns) + summary_table(report, columns);
  const bool any = report.measured.count(Side::native, GuidelineVerdict::violated) +
                       report.measured.count(Side::huddle, GuidelineVerdict::violated) >
                   0;
  if (any) all += violation_table(report, columns);
  if (const long long passed = passed_points(report); passed > 0) {
    all += wrap(
        "", fmt::format("= calls of huddle fell back to the MPI, at {}", counted(passed, "point")),
        2, columns);
  }
  return all + conclusion(report, columns);
}

}  // namespace huddle::cli

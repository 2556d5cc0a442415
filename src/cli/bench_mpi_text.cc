// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/bench_mpi_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/table.h"
#include "cli/wrap.h"

namespace huddle::cli {
namespace {

using select::Operation;
using versus::PointResult;

constexpr TableLook look = {.indent = 2, .name_columns = 12};

std::string interval_text(const versus::Estimate& estimate) {
  return fmt::format("{:.2f}-{:.2f}", estimate.low, estimate.high);
}

std::string size_of(const PointResult& one) {
  if (one.point.operation == Operation::barrier) return "-";
  return size_text(static_cast<double>(one.point.bytes));
}

// What is to be known before one believes the line.
std::string marks(const PointResult& one) {
  std::string text;
  if (!one.stable) text += '~';
  if (one.passed > 0) text += '=';
  if (one.below_bar()) text += '!';
  if (times_off(one).value_or(1) > mispredicted_from) text += misprediction_mark;
  return text;
}

// Behind a comma some go on about how they were built.
std::string short_version(const std::string& version) {
  return version.substr(0, version.find(','));
}

std::vector<const PointResult*> of(const MpiBenchReport& report, Operation operation) {
  std::vector<const PointResult*> all;
  for (const PointResult& one : report.measured.results) {
    if (one.point.operation == operation) all.push_back(&one);
  }
  return all;
}

double mean_ratio(const std::vector<const PointResult*>& results) {
  std::vector<double> ratios;
  for (const PointResult* one : results) ratios.push_back(one->estimate.ratio);
  return versus::geometric_mean(ratios);
}

std::string operation_table(const MpiBenchReport& report, Operation operation, int columns) {
  const auto results = of(report, operation);
  if (results.empty()) return {};
  Table::Row heading = {std::string(name(operation)), report.has_peers() ? "best MPI" : "MPI",
                        "huddle", "ratio", "95 %"};
  if (report.has_peers()) heading.emplace_back("best is");
  heading.emplace_back("");
  Table table(heading, look);
  for (const PointResult* one : results) {
    Table::Row row = {size_of(*one), time_text(one->native_ns), time_text(one->huddle_ns),
                      fmt::format("{:.2f}", one->estimate.ratio), interval_text(one->estimate)};
    if (report.has_peers()) row.push_back(one->rival);
    row.push_back(marks(*one));
    table.add(std::move(row));
  }
  std::string text = '\n' + table.text(columns);
  if (results.size() > 1) {
    text += fmt::format("  geometric mean of the ratios: {:.2f}\n", mean_ratio(results));
  }
  return text;
}

std::string timing_text(const MpiBenchReport& report) {
  switch (report.timing) {
    case versus::Timing::apart:
      return "from the last rank in to the last out, roots in turns";
    case versus::Timing::osu:
      return "call after call as in OSU's loop, one root, the same data, the mean of all ranks";
    case versus::Timing::cold:
      return fmt::format(
          "the first {} of processes just started, new communicators and arrays",
          report.cold_calls == 1 ? "call" : fmt::format("{} calls", report.cold_calls));
  }
  return {};
}

std::string heading(const MpiBenchReport& report, int columns) {
  const versus::Report& measured = report.measured;
  std::string text =
      wrap("",
           fmt::format("{}, {}", report.machine.name,
                       calibrated(report.machine)
                           ? "calibrated"
                           : "uncalibrated: choices rest on generic figures (huddle calibrate)"),
           0, columns);
  text += wrap("",
               fmt::format("{} ranks{}; huddle under {}{}; {}", report.ranks,
                           measured.crowded ? " that share cores" : "",
                           short_version(measured.versions[measured.under]),
                           report.in_heap ? "; heap on: buffers in the shared heap"
                                          : "; heap off: buffers in ordinary memory",
                           timing_text(report)),
               0, columns);
  if (!report.has_peers()) return text;
  for (std::size_t i = 0; i < measured.mpis.size(); ++i) {
    text += wrap("  ",
                 fmt::format("{}: {}", measured.mpis[i].name, short_version(measured.versions[i])),
                 4, columns);
  }
  return text;
}

std::string legend(const MpiBenchReport& report, int columns) {
  const auto any = [&report](auto&& has) {
    return std::any_of(report.measured.results.begin(), report.measured.results.end(), has);
  };
  std::string text;
  if (any([](const PointResult& one) { return !one.stable; })) {
    text += wrap("", "~ unsteady: the interval was still wide when the time was over", 2, columns);
  }
  if (any([](const PointResult& one) { return one.passed > 0; })) {
    text += wrap("", "= huddle left calls to the MPI", 2, columns);
  }
  if (any([](const PointResult& one) { return one.below_bar(); })) {
    text += wrap("", fmt::format("! slower than {} of the MPI's speed in every try", versus::bar),
                 2, columns);
  }
  const std::string error = prediction_error_text(report.prediction_error());
  if (!error.empty()) text += wrap("", error, 2, columns);
  return text.empty() ? text : '\n' + text;
}

}  // namespace

bool MpiBenchReport::misses_bar() const {
  return std::any_of(measured.results.begin(), measured.results.end(),
                     [](const PointResult& one) { return one.below_bar(); });
}

std::optional<double> times_off(const PointResult& one) {
  if (one.choices.empty() || one.passed > 0) return std::nullopt;
  return times_off(one.choices.front().predicted_ns, one.huddle_ns);
}

PredictionError MpiBenchReport::prediction_error() const {
  std::vector<double> all;
  for (const PointResult& one : measured.results) {
    if (const auto off = times_off(one)) all.push_back(*off);
  }
  return cli::prediction_error(std::move(all));
}

std::string bench_mpi_text(const MpiBenchReport& report, int columns) {
  std::string text = heading(report, columns);
  for (const Operation operation : select::operations) {
    text += operation_table(report, operation, columns);
  }
  return text + legend(report, columns);
}

}  // namespace huddle::cli

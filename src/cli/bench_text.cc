// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/bench_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "calibrate/statistics.h"
#include "cli/table.h"
#include "cli/wrap.h"

namespace huddle::cli {
namespace {

using contest::Bar;
using contest::EntryResult;
using contest::Result;
using contest::Verdict;

// Figures of all tables stand in the same columns.
constexpr TableLook look = {.indent = 2, .name_columns = 34};

double median_ns(const EntryResult& entry) { return calibrate::median_of(entry.ns); }

std::string spread_text(double spread) { return fmt::format("{:.0f} %", 100 * spread); }

std::string rate_text(double bytes, double ns) { return fmt::format("{:.1f} GB/s", bytes / ns); }

// What the two sides of a verdict came to, in the words of its bar.
struct Sides {
  std::string subject;
  std::string rival;
  std::string bar;
};

Sides sides(const Verdict& verdict, const Result& result) {
  const double subject_ns = median_ns(result.entries[verdict.subject]);
  const double rival_ns = median_ns(result.entries[verdict.rival]);
  switch (verdict.bar.kind) {
    case Bar::Kind::time_at_most:
      return {time_text(subject_ns), time_text(rival_ns), fmt::format("<= {}", verdict.bar.limit)};
    case Bar::Kind::rate_at_least:
      return {rate_text(verdict.subject_bytes, subject_ns),
              rate_text(verdict.rival_bytes, rival_ns), fmt::format(">= {}", verdict.bar.limit)};
  }
  return {};
}

std::string verdict_table(const BenchReport& report, int columns) {
  Table table({"What has to hold", "huddle", "bare", "ratio", "spread", "bar", ""}, look);
  bool is_empty = true;
  for (const Result& result : report.results) {
    for (const Verdict& verdict : result.verdicts) {
      const Sides both = sides(verdict, result);
      table.add({verdict.what, both.subject, both.rival, fmt::format("{:.2f}", verdict.median),
                 spread_text(verdict.spread), both.bar, verdict.holds ? "ok" : "misses"});
      is_empty = false;
    }
  }
  return is_empty ? "" : "\n" + table.text(columns);
}

// Where they ran, and what disturbed them there. Those who share cores take them from one another.
std::string circumstances(const Result& result) {
  std::string where = fmt::format("{}, {} round{}", text(result.seating), result.rounds,
                                  result.rounds == 1 ? "" : "s");
  if (result.switched_away == 0 || result.seating.crowded()) return where;
  return where + fmt::format("; others took their cores {} times", result.switched_away);
}

std::string prediction_text(const EntryResult& entry) {
  if (!entry.predicted_ns) return "-";
  const bool is_far = is_mispredicted(*entry.predicted_ns, median_ns(entry));
  return fmt::format("{}{}", time_text(*entry.predicted_ns), is_far ? misprediction_mark : "");
}

std::string entry_table(const Result& result, int columns) {
  if (result.rounds == 0) return "";
  const bool predicted =
      std::any_of(result.entries.begin(), result.entries.end(),
                  [](const EntryResult& entry) { return entry.predicted_ns.has_value(); });
  Table::Row heading = {result.name, "a call", "spread"};
  if (predicted) heading.push_back("predicted");
  Table table(heading, look);
  for (const EntryResult& entry : result.entries) {
    const std::string how = entry.how.empty() ? "" : fmt::format(" ({})", entry.how);
    Table::Row row = {entry.name + how, time_text(median_ns(entry)),
                      spread_text(calibrate::summarize(entry.ns).spread)};
    if (predicted) row.push_back(prediction_text(entry));
    table.add(std::move(row));
  }
  return fmt::format("\n{}{}", table.text(columns), wrap("", circumstances(result), 0, columns));
}

}  // namespace

std::string machine_text(const machine::Machine& machine, const std::string& machine_file) {
  if (!calibrated(machine)) {
    return machine.name + ", uncalibrated: choices rest on generic figures (huddle calibrate)";
  }
  return fmt::format("{}, {}", machine.name,
                     machine_file == measured_now ? measured_now : "calibrated");
}

PredictionError BenchReport::prediction_error() const {
  std::vector<double> all;
  for (const Result& result : results) {
    for (const EntryResult& entry : result.entries) {
      if (entry.predicted_ns && !entry.ns.empty()) {
        all.push_back(times_off(*entry.predicted_ns, median_ns(entry)));
      }
    }
  }
  return cli::prediction_error(std::move(all));
}

std::string bench_text(const BenchReport& report, int columns) {
  std::string all = wrap("", machine_text(report.machine, report.machine_file), 0, columns);
  all += verdict_table(report, columns);
  for (const Result& result : report.results) all += entry_table(result, columns);
  const std::string error = prediction_error_text(report.prediction_error());
  return error.empty() ? all : all + "\n" + wrap("", error, 2, columns);
}

}  // namespace huddle::cli

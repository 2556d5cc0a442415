// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "common/arithmetic.h"
#include "common/text.h"
#include "mpi/job_report.h"
#include "mpi/stats.h"

namespace huddle::mpi {
namespace {

constexpr std::size_t shown_rows = 3;

std::string seconds_text(double seconds) { return time_text(seconds * ns_per_s); }

std::string range_text(const OverRanks& seconds) {
  return fmt::format("{} to {}", seconds_text(seconds.least), seconds_text(seconds.most));
}

double percent(double part, double whole) { return whole > 0 ? part / whole * 100 : 0; }

struct ShownRow {
  const JobGroup* group;
  const JobRow* row;
};

// Returns the rows with the largest saving or, if nothing is predicted, with the longest transfer.
std::vector<ShownRow> shown(const JobReport& report) {
  std::vector<ShownRow> rows;
  for (const JobGroup& group : report.groups) {
    for (const JobRow& row : group.rows) rows.push_back({&group, &row});
  }
  const bool has_saving = report.saving_seconds() > 0;
  const auto weight = [&](const ShownRow& shown) {
    return static_cast<double>(shown.group->members.size()) *
           (has_saving ? shown.row->saving_seconds : shown.row->transfer_seconds.mean);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const ShownRow& one, const ShownRow& other) {
    return weight(one) > weight(other);
  });
  rows.resize(std::min(rows.size(), shown_rows));
  return rows;
}

std::string size_of(const JobRow& row) {
  if (row.kind.operation == select::Operation::barrier) return "-";
  return size_text(std::round(row.common_per_call > 0 ? row.common_per_call : row.bytes_per_call));
}

std::string table(const JobReport& report) {
  const std::vector<ShownRow> rows = shown(report);
  std::size_t width = std::string_view("operation").size();
  for (const ShownRow& shown : rows) {
    width = std::max(width, select::name(shown.row->kind.operation).size());
  }
  const bool has_saving = report.saving_seconds() > 0;
  std::string text = fmt::format("  {:<{}}{:>7}{:>9}{:>12}{:>10}{:>10}  {}\n", "operation", width,
                                 "ranks", "bytes", "calls", "waiting", "transfer",
                                 has_saving ? "saving" : "algorithm, or fallback reason");
  for (const auto& [group, row] : rows) {
    const bool is_handled = row->kind.why == FallbackReason::none;
    const std::string how =
        is_handled ? row->kind.how : fmt::format("MPI: {}", reason_text(row->kind.why));
    text +=
        fmt::format("  {:<{}}{:>7}{:>9}{:>12}{:>10}{:>10}  {}\n", select::name(row->kind.operation),
                    width, group->members.size(), size_of(*row), grouped(row->calls),
                    row->is_divided ? seconds_text(row->waiting_seconds.mean) : "?",
                    seconds_text(row->is_divided ? row->transfer_seconds.mean : row->seconds.mean),
                    has_saving ? seconds_text(row->saving_seconds) : how);
  }
  return text;
}

std::string saving_text(const JobReport& report, const JobFacts& facts) {
  if (!facts.was_off) return {};
  const std::string_view by =
      report.is_calibrated
          ? "by this machine's calibration"
          : "by constants of a typical machine ('huddle calibrate' measures this one)";
  const double saving = report.saving_seconds();
  if (saving <= 0) return fmt::format("huddle: huddle is predicted to save nothing, {}\n", by);
  return fmt::format(
      "huddle: huddle is predicted to save {} of the transfer ({:.1f} % of the run), "
      "{}\n",
      seconds_text(saving), percent(saving, report.run_seconds), by);
}

}  // namespace

std::string job_report_text(const JobReport& report, const JobFacts& facts) {
  if (report.groups.empty()) return {};
  std::string text = fmt::format(
      "huddle: blocking collectives took {} of the {} from MPI_Init to MPI_Finalize ({:.0f} %), "
      "mean of {} ranks ({})\n",
      seconds_text(report.seconds.mean), seconds_text(report.run_seconds),
      percent(report.seconds.mean, report.run_seconds), report.ranks, range_text(report.seconds));
  text += fmt::format(
      "huddle: of this, {} was waiting for ranks that entered later ({}), and {} transfer\n",
      seconds_text(report.waiting_seconds.mean), range_text(report.waiting_seconds),
      seconds_text(report.transfer_seconds.mean));
  if (report.undivided_seconds() > 0) {
    text += fmt::format(
        "huddle: {} cannot be divided, because the ranks' calls differ or several threads make "
        "them\n",
        seconds_text(report.undivided_seconds()));
  }
  if (report.late) {
    text += fmt::format(
        "huddle: rank {} entered {:.0f} % of the calls last, {} after the other ranks on average\n",
        report.late->rank, 100 * report.late->share, time_text(report.late->late_ns));
  }
  return text + saving_text(report, facts) + table(report);
}

}  // namespace huddle::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The steps of StepRun that measure cache lines and flags.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "common/arithmetic.h"
#include "tools/calibrate/line_probe.h"
#include "tools/calibrate/step_run.h"

namespace huddle::calibrate {
namespace {

std::string pair_text(const Pair& pair) {
  return fmt::format("hardware threads {} and {}", pair.first, pair.second);
}

Pair in_order(const Pair& pair) {
  return {std::min(pair.first, pair.second), std::max(pair.first, pair.second)};
}

std::set<int> pus_of(const std::map<Pair, Summary>& lines) {
  std::set<int> pus;
  for (const auto& [pair, summary] : lines) pus.insert({pair.first, pair.second});
  return pus;
}

}  // namespace

Measured StepRun::measure_line(Findings& findings, const Pair& pair, LineUse use) {
  const std::string detail =
      pair_text(pair) + (use == LineUse::shared_line ? " (one cache line)" : "");
  return measure_next(findings, detail, usual_tolerance, [&](const Budget& budget) {
    return time_line(crew_, pair.first, pair.second, use, step_.extent, budget);
  });
}

void StepRun::line_pairs(Findings& findings) {
  for (const Pair& pair : step_.pairs) {
    const Measured measured = measure_line(findings, pair, LineUse::own_lines);
    if (measured.usable()) findings.lines[in_order(pair)] = measured.summary;
  }
  findings.sampling = "every pair";
}

void StepRun::line_clusters(Findings& findings) {
  const std::size_t scanned_pus = pus_of(findings.lines).size();
  const auto scanned = pairs_of(findings.lines);
  const std::size_t complete = scanned ? scanned->pus.size() : 0;
  if (complete < scanned_pus) {
    findings.doubts.add(
        step_.name,
        fmt::format(
            "the scan contains all pairs of only {} of {} cores: clusters follow from those",
            complete, scanned_pus));
  }
  if (!scanned) return;
  const std::vector<Pair> pairs = pairs_of_clusters(*scanned, step_.seconds.size());
  for (const Pair& pair : pairs) {
    const Measured measured = measure_line(findings, pair, LineUse::own_lines);
    if (measured.usable()) findings.lines[in_order(pair)] = measured.summary;
  }
  findings.sampling = fmt::format(
      "every pair measured briefly, {} pairs from all clusters measured precisely", pairs.size());
}

void StepRun::line_level(Findings& findings) {
  machine::LineCost cost;
  cost.level = step_.level;
  cost.origin = machine::Origin::measured;
  std::vector<double> own;
  std::vector<double> shared;
  std::vector<double> spreads;
  for (const Pair& pair : step_.pairs) {
    for (const LineUse use : {LineUse::own_lines, LineUse::shared_line}) {
      const bool both = use == LineUse::shared_line;
      const Measured measured = measure_line(findings, pair, use);
      if (!measured.usable()) continue;
      (both ? shared : own).push_back(measured.summary.median);
      if (both) continue;
      spreads.push_back(measured.summary.spread);
      findings.lines[in_order(pair)] = measured.summary;
    }
  }
  if (own.empty() || shared.empty()) return;
  cost.one_way_ns = median_of(own);
  cost.shared_ns = median_of(shared);
  cost.spread = median_of(spreads);
  findings.machine.line.push_back(cost);
}

// Repeats measurements at the end: a virtual machine may have been moved to other cores, or the
// clock frequency may have changed. Then every single measurement is steady, but the first ones do
// not match the last.
void StepRun::line_again(Findings& findings) {
  for (const Pair& pair : step_.pairs) {
    const Measured measured = measure_line(findings, pair, LineUse::own_lines);
    const auto before = findings.lines.find(in_order(pair));
    if (!measured.usable() || before == findings.lines.end()) continue;
    const std::string change = change_of_line(before->second.median, measured.summary.median);
    if (change.empty()) continue;
    findings.doubts.add(step_.name, fmt::format("{}: {}", pair_text(pair), change));
  }
}

void StepRun::flags(Findings& findings) {
  const auto found = std::find_if(findings.machine.line.begin(), findings.machine.line.end(),
                                  [this](const auto& cost) { return cost.level == step_.level; });
  if (found == findings.machine.line.end()) return;
  std::vector<std::size_t> counts = {1};
  for (const std::size_t count : doubling_to(step_.pus.size() - 1)) counts.push_back(count);
  std::array<std::vector<double>, 2> ns;
  std::array<std::vector<double>, 2> at;
  constexpr std::size_t readers = 0;
  constexpr std::size_t writers = 1;
  for (const std::size_t who : {readers, writers}) {
    for (const std::size_t count : counts) {
      const std::span<const int> pus = std::span(step_.pus).first(count + 1);
      const Measured measured = measure_next(
          findings, fmt::format("{} {}", count, who == readers ? "readers" : "writers"),
          usual_tolerance, [&](const Budget& budget) {
            return who == readers ? time_readers(crew_, pus, step_.extent, budget)
                                  : time_packed_flags(crew_, pus, step_.extent, budget);
          });
      if (!measured.usable()) continue;
      ns[who].push_back(measured.summary.median);
      at[who].push_back(static_cast<double>(count));
    }
  }
  // One point has no slope. In that case the estimated costs stay, marked as estimates.
  const std::optional<double> reader_step = slope(at[readers], ns[readers]);
  const std::optional<double> writer_step = slope(at[writers], ns[writers]);
  if (!reader_step || !writer_step) return;
  found->reader_step_ns = std::max(0.0, *reader_step);
  // The slope includes the readers of the flag that starts the writers. Their known cost is
  // subtracted.
  found->writer_step_ns = std::max(0.0, std::max(0.0, *writer_step) - found->reader_step_ns);
  found->steps_origin = machine::Origin::measured;
}

}  // namespace huddle::calibrate

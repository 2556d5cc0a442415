// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/ucx/ucx_report.h"

#include <fmt/format.h>
#include <algorithm>

#include "common/arithmetic.h"
#include "common/text.h"
#include "runtime/select/operation.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

std::string lanes_text(const std::vector<ucx::Lane>& lanes) {
  std::string text;
  for (const ucx::Lane& lane : lanes) {
    text += fmt::format("{}{}/{}", text.empty() ? "" : ", ", lane.transport, lane.device);
    if (lanes.size() > 1) text += fmt::format(" {:.0f} %", lane.share * 100);
  }
  return text;
}

std::string selections_text(const std::string& title,
                            const std::vector<ucx::Selection>& selections) {
  std::string text = title + "\n";
  for (const ucx::Selection& selection : selections) {
    text += fmt::format("  {}\n", selection.call);
    for (const ucx::Range& range : selection.ranges) {
      text += fmt::format("    from {:>6}  {}: {}\n", size_text(range.from_bytes),
                          lanes_text(range.lanes), range.protocol);
    }
  }
  return text;
}

// Returns the bytes of the busiest device, for each side.
std::string traffic_text(const ucx::Traffic& before, const ucx::Traffic& after) {
  ucx::Traffic both = before;
  ucx::add(after, both);
  const auto busiest = std::max_element(
      both.begin(), both.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (busiest == both.end() || busiest->second <= 0) return "-";
  const auto of = [&](const ucx::Traffic& side) {
    const auto found = side.find(busiest->first);
    return size_text(found == side.end() ? 0 : found->second);
  };
  return fmt::format("{} {}, {}", busiest->first, of(before), of(after));
}

std::string runs_text(const UcxRuns& runs, int columns) {
  std::string text = fmt::format(
      "{}, {}{}: without huddle's settings, with them, and with huddle's own collectives, "
      "alternately:\n",
      runs.version, counted(runs.ranks, "rank"), runs.oversubscribed ? ", more than cores" : "");
  Table table(
      {"", "without", "with", "without / with", "network traffic", "huddle", "without / huddle"},
      {.indent = 2});
  for (const UcxRun& run : runs.runs) {
    table.add({fmt::format("{} {}", name(run.point.operation),
                           size_text(static_cast<double>(run.point.bytes))),
               time_text(run.before_ns), time_text(run.after_ns),
               fmt::format("{:.2f} ({:.2f} to {:.2f})", run.estimate.ratio, run.estimate.low,
                           run.estimate.high),
               traffic_text(run.before, run.after), time_text(run.huddle_ns),
               fmt::format("{:.2f} ({:.2f} to {:.2f})", run.huddle_estimate.ratio,
                           run.huddle_estimate.low, run.huddle_estimate.high)});
  }
  text += table.text(columns);
  for (const ucx::Omitted& one : runs.dropped) {
    text += fmt::format("{} is omitted: {}\n", one.name, one.why);
  }
  return text + "\n";
}

std::string program_text(const UcxProgramRuns& program) {
  const bench::Estimate ratio = program.runs.speedup();
  return fmt::format(
      "The program without and with huddle's settings, {} runs of each, alternately: {:.3f} s, "
      "{:.3f} s; ratio {:.3f} ({:.3f} to {:.3f}){}\n"
      "network traffic without and with them: {}\n\n",
      program.runs.rounds(), median_of(program.runs.of(bench::Side::native).wall_seconds),
      median_of(program.runs.of(bench::Side::huddle).wall_seconds), ratio.ratio, ratio.low,
      ratio.high, ratio.sure && ratio.high < least_ratio ? ": slower with them" : "",
      traffic_text(program.before, program.after));
}

}  // namespace

std::vector<Stray> strays_of(const std::vector<ucx::Selection>& selections,
                             const std::vector<ucx::Device>& devices) {
  std::vector<Stray> strays;
  for (const ucx::Selection& selection : selections) {
    for (const ucx::Range& range : selection.ranges) {
      for (const ucx::Lane& lane : range.lanes) {
        if (is_network(devices, lane)) strays.push_back({lane, selection.call, range.from_bytes});
      }
    }
  }
  return strays;
}

std::string ucx_check_text(const UcxCheck& check, int columns) {
  std::string text =
      selections_text("Messages inside the node without huddle's settings:", check.now) + "\n" +
      selections_text("With huddle's settings ('huddle ucx' prints them):", check.advised) + "\n";
  for (const std::string& complaint : check.complaints) {
    text += fmt::format("Message of UCX about huddle's settings: {}\n", complaint);
  }
  for (const UcxRuns& runs : check.runs) text += runs_text(runs, columns);
  if (check.program_runs) text += program_text(*check.program_runs);
  const auto strays = strays_of(check.now, check.devices);
  for (const Stray& stray : strays) {
    text += fmt::format(
        "{:.0f} % of each message of at least {} go through {}/{}, a network device: {}\n",
        stray.lane.share * 100, size_text(stray.from_bytes), stray.lane.transport,
        stray.lane.device, stray.call);
  }
  if (strays.empty()) return text + "No message inside the node goes through a network device.\n";
  const bool helps = strays_of(check.advised, check.devices).empty();
  return text + (helps ? "With huddle's settings, no message does.\n"
                       : "huddle's settings do not change this.\n");
}

}  // namespace huddle::cli

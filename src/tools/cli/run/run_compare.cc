// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/run/run_compare.h"

#include <fmt/format.h>
#include <algorithm>

#include "common/arithmetic.h"
#include "tools/cli/progress.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

using bench::Side;

class RunProgress : public bench::RunWatcher {
 public:
  RunProgress(const Console& console, int rounds)
      : runs_(static_cast<std::size_t>(rounds) * 2 + 1), progress_(console, runs_) {}

  void begin(Side side, std::size_t runs_done) override {
    progress_.begin_step(runs_done == 0         ? "warm-up run"
                         : side == Side::huddle ? "with huddle"
                                                : "without huddle");
    progress_.update(static_cast<double>(runs_done) / static_cast<double>(runs_));
  }
  void finish() { progress_.finish(); }

 private:
  std::size_t runs_;
  Progress progress_;
};

// HUDDLE=off matters if the site preloads huddle for all programs.
bench::Spawned without_huddle(const launch::Request& request, const launch::Plan& plan) {
  return {.program = plan.program,
          .words = request.command,
          .environment = launch::changed_environment(request.environment, {{"HUDDLE", "off"}})};
}

// Returns the command with huddle. The run prints a summary of the handled calls at its end, which
// does not affect its time.
bench::Spawned with_huddle(const launch::Request& request, const launch::Plan& plan,
                           const std::vector<std::string>& starter) {
  bench::Spawned spawned{
      .program = plan.program,
      .words = plan.command,
      .environment = launch::changed_environment(request.environment, plan.changes)};
  if (starter.empty()) return spawned;
  spawned.program = starter.front();
  spawned.words = starter;
  spawned.words.insert(spawned.words.end(), request.command.begin(), request.command.end());
  return spawned;
}

std::string wall_text(double seconds) { return fmt::format("{:.3f} s", seconds); }

Table::Row row_of(const std::string& name, const bench::SideRuns& side) {
  const auto [least, most] =
      std::minmax_element(side.wall_seconds.begin(), side.wall_seconds.end());
  return {name, wall_text(median_of(side.wall_seconds)), wall_text(*least), wall_text(*most),
          wall_text(median_of(side.cpu_seconds))};
}

// Returns the conclusion in words, so that noise is not mistaken for a gain.
std::string verdict(const bench::Estimate& speedup) {
  if (!speedup.sure) {
    return "Too few runs for a 95 % confidence interval: use at least --compare 6";
  }
  if (speedup.low > 1) return "Faster with huddle";
  if (speedup.high < 1) return "Slower with huddle";
  return "No significant difference: the interval contains 1. More runs make it narrower";
}

}  // namespace

std::string taken_line(const std::string& output) {
  constexpr std::string_view mark = "huddle: ";
  constexpr std::string_view words = " collectives of rank 0 handled";
  const std::size_t at = output.rfind(words);
  const std::size_t begin = at == std::string::npos ? at : output.rfind(mark, at);
  if (begin == std::string::npos) return {};
  const std::size_t end = std::min(output.find('\n', at), output.size());
  return output.substr(begin + mark.size(), end - begin - mark.size());
}

std::string compared_text(const bench::WholeRuns& runs) {
  const bench::Estimate speedup = runs.speedup();
  Table table({"wall time per run", "median", "minimum", "maximum", "CPU time"}, {.indent = 2});
  table.add(row_of("without huddle", runs.of(Side::native)));
  table.add(row_of("with huddle", runs.of(Side::huddle)));
  constexpr int columns = 80;
  return table.text(columns) +
         fmt::format(
             "\n"
             "without / with huddle: {:.3f} ({:.3f} to {:.3f}) from {} runs of each, alternately\n",
             speedup.ratio, speedup.low, speedup.high, runs.rounds()) +
         verdict(speedup) + ".\n";
}

ExitCode compare_runs(const Context& context, const launch::Request& request,
                      const launch::Plan& plan, const Comparison& comparison) {
  const int rounds = comparison.rounds;
  const Console& console = context.console;
  const Interrupt interrupt;
  RunProgress progress(console, rounds);
  const bench::WholeRuns runs = bench::compare_whole_runs(
      without_huddle(request, plan), with_huddle(request, plan, comparison.starter), rounds,
      progress, interrupt.requested());
  progress.finish();
  const std::string taken = taken_line(runs.huddle_output);
  if (runs.rounds() > 0) {
    console.print(comparison.as_json ? compared_json(runs, taken) : compared_text(runs));
    // A program whose threads are observed need not call any collective.
    if (!taken.empty()) {
      console.note("huddle: " + taken);
    } else if (!request.with_threads) {
      console.note("huddle: the program reported no handled collectives");
    }
  }
  if (runs.interrupted) {
    console.note(fmt::format("huddle: {}; {} of {} runs of each were completed",
                             interrupt.signal_name(), runs.rounds(), rounds));
    interrupt.die();
  }
  return ExitCode::fine;
}

}  // namespace huddle::cli

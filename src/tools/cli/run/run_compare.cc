// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/run/run_compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "common/arithmetic.h"
#include "common/text.h"
#include "tools/cli/progress.h"
#include "tools/cli/terminal_text.h"
#include "tools/launch/preload.h"

namespace huddle::cli {
namespace {

using bench::Side;

class RunProgress : public bench::RunWatcher {
 public:
  using AfterRound = std::function<void(const bench::WholeRuns&)>;

  RunProgress(const Console& console, int rounds, AfterRound after_round)
      : runs_(static_cast<std::size_t>(rounds) * 2 + 1),
        progress_(console, runs_ + static_cast<std::size_t>(rounds)),
        after_round_(std::move(after_round)) {}

  void begin(Side side, std::size_t runs_done) override {
    progress_.begin_step(runs_done == 0         ? "warm-up run"
                         : side == Side::huddle ? "with huddle"
                                                : "without huddle");
    progress_.update(static_cast<double>(runs_done) / static_cast<double>(runs_));
  }
  void end_round(const bench::WholeRuns& runs) override {
    progress_.begin_step("start-up and collectives");
    after_round_(runs);
  }
  void finish() { progress_.finish(); }

 private:
  std::size_t runs_;  // that are compared, and the first one
  Progress progress_;
  AfterRound after_round_;
};

// HUDDLE=off matters if the site preloads huddle for all programs.
bench::Spawned without_huddle(const launch::Request& request, const launch::Plan& plan) {
  return {.program = plan.program,
          .words = request.command,
          .environment = launch::changed_environment(request.environment, {{"HUDDLE", "off"}})};
}

// Returns the command with huddle, as a user starts it, so that the time of `huddle run` itself
// counts. Settings from its command line are passed in the environment. The run prints a summary of
// the handled calls at its end, which does not affect its time.
bench::Spawned with_huddle(const launch::Request& request, const launch::Plan& plan,
                           const std::vector<std::string>& starter,
                           const std::vector<std::string>& options,
                           const std::vector<std::string>& command) {
  std::vector<launch::Variable> changes = plan.changes;
  std::erase_if(changes,
                [](const launch::Variable& one) { return one.name == launch::preload_name; });
  bench::Spawned spawned{.program = starter.front(),
                         .words = starter,
                         .environment = launch::changed_environment(request.environment, changes)};
  spawned.words.insert(spawned.words.end(), options.begin(), options.end());
  spawned.words.emplace_back("--");
  spawned.words.insert(spawned.words.end(), command.begin(), command.end());
  return spawned;
}

// Returns whether this process belongs to a job of Slurm, PBS or LSF.
bool is_in_batch_job(const std::vector<std::string>& environment) {
  constexpr std::array<std::string_view, 3> names = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};
  return std::any_of(names.begin(), names.end(), [&environment](std::string_view name) {
    return !settings::value_of(environment, name).empty();
  });
}

// Returns whether all ranks on this machine are descendants of the command. A daemon starts the
// ranks of the others: that of Slurm also those of MPICH's launcher and of scripts in its jobs.
bool starts_its_ranks(const launch::Request& request, const launch::Plan& plan) {
  if (!plan.launcher) return !is_in_batch_job(request.environment);
  switch (plan.launcher->passing) {
    case launch::Passing::x_each_context:
    case launch::Passing::x_once:
      return true;
    case launch::Passing::genv:
      return !is_in_batch_job(request.environment);
    case launch::Passing::inherited:
    case launch::Passing::export_list:
    case launch::Passing::unknown:
      return false;
  }
  return false;
}

constexpr int text_columns = 80;
constexpr int label_columns = 15;

// A blank at which no line is broken.
constexpr char fixed_blank = '~';

// Returns a paragraph with a label in a column of its own.
std::string entry(std::string_view label, std::string_view text) {
  std::string lines = wrap(padded(label, label_columns), text, label_columns, text_columns);
  std::replace(lines.begin(), lines.end(), fixed_blank, ' ');
  return lines;
}

std::string wall_text(double seconds) { return fmt::format("{:.3f} s", seconds); }

Table::Row row_of(const std::string& name, const bench::SideRuns& side) {
  const auto [least, most] =
      std::minmax_element(side.wall_seconds.begin(), side.wall_seconds.end());
  return {name, wall_text(median_of(side.wall_seconds)), wall_text(*least), wall_text(*most),
          wall_text(median_of(side.cpu_seconds))};
}

double median_wall(const bench::WholeRuns& runs, Side side) {
  return median_of(runs.of(side).wall_seconds);
}

// Rounds to ms first, so that no figure is "-0.000".
std::string seconds_number(double seconds) {
  constexpr double ms_per_s = 1e3;
  return fmt::format("{:.3f}", std::round(seconds * ms_per_s) / ms_per_s + 0.0);
}

std::string start_up_text(const StartUp& start_up) {
  const bench::Estimate added = start_up.added();
  const bool may_be_zero = added.low <= 0 && added.high >= 0;
  const std::string_view doubt = !added.sure   ? ", by too few runs for a reliable interval"
                                 : may_be_zero ? ", which may be chance"
                                               : "";
  return entry(
      "Start and end",
      fmt::format("huddle adds {}~s ({} to {}) before and after the program's own "
                  "work{}. Compared: the same command with a program that {}, {}~s without "
                  "huddle and {}~s with it.",
                  seconds_number(added.ratio), seconds_number(added.low),
                  seconds_number(added.high), doubt,
                  start_up.with_mpi ? "only begins and ends MPI" : "does nothing",
                  seconds_number(median_of(start_up.of(Side::native))),
                  seconds_number(median_of(start_up.of(Side::huddle)))));
}

std::string collectives_text(const CollectiveShares& shares) {
  constexpr double hundred = 100;
  return entry(
      "Collectives",
      fmt::format(
          "{:.0f}~% of the time from MPI_Init to MPI_Finalize without huddle, {:.0f}~% "
          "with it (blocking collectives; {}). huddle can save at most the "
          "former.",
          hundred * median_of(shares.of(Side::native)),
          hundred * median_of(shares.of(Side::huddle)),
          shares.of(Side::native).size() == 1
              ? "one more run of each"
              : fmt::format("median of {} more runs of each", shares.of(Side::native).size())));
}

// Returns a sentence, or nothing if no load is known.
std::string load_text(const bench::MachineLoad& load, bool knows_its_processes) {
  constexpr double least_shown = 0.005;  // smaller figures are printed as 0.00
  const std::string pus = counted(load.pus, "hardware thread");
  std::string text;
  if (knows_its_processes) {
    text = fmt::format("the machine was {}: other programs used {:.2f} of its {} on average.",
                       load.is_busy ? "busy" : "not busy", load.others, pus);
  }
  if (load.stolen >= least_shown) {
    text += fmt::format(" The host of this virtual machine used {:.2f} of {} for others.",
                        load.stolen, pus);
  }
  if (knows_its_processes && load.is_busy) text += " Repeat the comparison on an idle machine.";
  return text.empty() ? text : entry("Other load", text);
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

namespace {

// Returns how much longer the runs with huddle take: the median of the differences within a turn.
double median_loss(const bench::WholeRuns& runs) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < runs.rounds(); ++i) {
    seconds.push_back(runs.of(Side::huddle).wall_seconds[i] -
                      runs.of(Side::native).wall_seconds[i]);
  }
  return median_of(seconds);
}

// Returns why the runs are too short for a conclusion about the program's own work; empty if they
// are not. Start-up dominates if it takes more than half of the time.
std::string shortness(const ComparedRuns& compared) {
  const std::optional<StartUp>& start_up = compared.extras.start_up;
  if (!start_up) return {};
  const double run = median_wall(compared.runs, Side::native);
  const double start = median_of(start_up->of(Side::native));
  if (start > run / 2) {
    return fmt::format(
        "start and end take {:.3f} of the {:.3f} s of a run without huddle. Use a longer input",
        std::min(start, run), run);
  }
  const double loss = median_loss(compared.runs);
  if (compared.runs.speedup().high < 1 && loss <= start_up->added().high) {
    return fmt::format(
        "runs with huddle take {:.3f} s longer, which its start-up alone can explain. Use a "
        "longer input",
        loss);
  }
  return {};
}

}  // namespace

// The interval of the ratios contains 1 exactly if that of the differences contains 0: both are
// order statistics, and the ratio of a turn is above 1 exactly if its run with huddle took less
// time.
RunVerdict verdict_on(const ComparedRuns& compared) {
  if (const std::string why = shortness(compared); !why.empty()) {
    return {Conclusion::too_short, fmt::format("Too short to tell: {}.", why)};
  }
  const bench::Estimate speedup = compared.runs.speedup();
  if (!speedup.sure) {
    return {Conclusion::too_few_runs,
            "Too few runs for a 95 % confidence interval: use at least --compare 6."};
  }
  if (speedup.low > 1) return {Conclusion::faster, "Faster with huddle."};
  if (speedup.high < 1) return {Conclusion::slower, "Slower with huddle."};
  return {Conclusion::too_short,
          "Too short to tell: the interval contains 1, so the difference may be chance. Use more "
          "runs or a longer input."};
}

std::string compared_text(const ComparedRuns& compared) {
  const bench::WholeRuns& runs = compared.runs;
  const bench::Estimate speedup = runs.speedup();
  Table table({"wall time per run", "median", "minimum", "maximum", "CPU time"}, {.indent = 2});
  table.add(row_of("without huddle", runs.of(Side::native)));
  table.add(row_of("with huddle", runs.of(Side::huddle)));
  std::string text = table.text(text_columns);
  text += "\n" + wrap("",
                      fmt::format("without / with huddle: {:.3f} ({:.3f} to {:.3f}) from {} runs "
                                  "of each, alternately",
                                  speedup.ratio, speedup.low, speedup.high, runs.rounds()),
                      0, text_columns);
  text += "\n";
  if (compared.extras.start_up) text += start_up_text(*compared.extras.start_up);
  if (compared.extras.collectives) text += collectives_text(*compared.extras.collectives);
  if (const auto load = runs.load()) text += load_text(*load, compared.knows_its_processes);
  if (!text.ends_with("\n\n")) text += "\n";
  text += wrap("", verdict_on(compared).sentence, 0, text_columns);
  if (!compared.taken.starts_with("0 ")) return text;
  return text + wrap("",
                     "huddle handled no collective of rank 0, so the runs differ only by its "
                     "start-up and by chance. 'huddle run -v' prints why; HUDDLE_ACTIVATE_AFTER=0 "
                     "lets short programs use huddle.",
                     0, text_columns);
}

ExitCode compare_runs(const Context& context, const launch::Request& request,
                      const launch::Plan& plan, const Comparison& comparison) {
  const int rounds = comparison.rounds;
  const Console& console = context.console;
  const Interrupt interrupt;
  const auto start = [&](const std::vector<std::string>& options,
                         const std::vector<std::string>& command) {
    return with_huddle(request, plan, comparison.starter, options, command);
  };
  ExtraRuns extra(request, plan, without_huddle(request, plan), start, interrupt.requested());
  RunProgress progress(console, rounds,
                       [&extra](const bench::WholeRuns& runs) { extra.after_round(runs); });
  ComparedRuns compared;
  compared.runs =
      bench::compare_whole_runs(without_huddle(request, plan), start({}, request.command), rounds,
                                progress, interrupt.requested());
  progress.finish();
  compared.extras = extra.measured();
  compared.knows_its_processes = starts_its_ranks(request, plan);
  compared.taken = taken_line(compared.runs.huddle_output);
  if (compared.runs.rounds() > 0) {
    console.print(comparison.as_json ? compared_json(compared) : compared_text(compared));
    // A program whose threads are observed need not call any collective.
    if (!compared.taken.empty()) {
      console.note("huddle: " + compared.taken);
    } else if (!request.with_threads) {
      console.note("huddle: the program reported no handled collectives");
    }
  }
  if (compared.runs.interrupted) {
    console.note(fmt::format("huddle: {}; {} of {} runs of each were completed",
                             interrupt.signal_name(), compared.runs.rounds(), rounds));
    interrupt.die();
  }
  return ExitCode::fine;
}

}  // namespace huddle::cli

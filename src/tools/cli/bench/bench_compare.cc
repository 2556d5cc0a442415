// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench compare: lists what became faster or slower between two results of huddle bench.

#include <fmt/format.h>
#include <algorithm>
#include <optional>

#include "common/error.h"
#include "common/text.h"
#include "tools/bench/mpi/measure_points.h"
#include "tools/cli/bench/bench_report.h"
#include "tools/cli/command.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

constexpr TableLook comparison_look = {.indent = 2, .name_columns = 12};

std::optional<MeasuredPoint> same_point(const MeasuredRun& run, const MeasuredPoint& wanted) {
  const auto found =
      std::find_if(run.points.begin(), run.points.end(), [&wanted](const MeasuredPoint& one) {
        return one.operation == wanted.operation && one.bytes == wanted.bytes;
      });
  if (found == run.points.end()) return std::nullopt;
  return *found;
}

std::string run_text(char letter, const MeasuredRun& run, int columns) {
  return wrap(
      "",
      fmt::format("{}: {}: huddle {}, {} ranks under {}, {}", letter, printable(run.path),
                  printable(run.huddle), run.ranks, printable(run.under), printable(run.machine)),
      3, columns);
}

// Returns notes on differences between the runs that the reader has to know.
std::string differences(const MeasuredRun& before, const MeasuredRun& after,
                        const std::vector<Change>& all, int columns) {
  std::string text;
  const auto say = [&text, columns](const std::string& sentence) {
    text += wrap("", "note: " + sentence, 2, columns);
  };
  if (before.machine != after.machine) say("the results are from different machines");
  if (before.ranks != after.ranks) say("the numbers of ranks differ");
  if (before.timing != after.timing) {
    say(fmt::format("the ways of timing differ: {} and {}", printable(before.timing),
                    printable(after.timing)));
  }
  if (before.mpis != after.mpis) say("huddle was compared with different MPIs");
  const std::size_t alone = before.points.size() + after.points.size() - 2 * all.size();
  if (alone > 0)
    say(fmt::format("{} in only one of the results",
                    counted(static_cast<long long>(alone), "point")));
  return text;
}

std::string_view change_word(const bench::Estimate& estimate) {
  if (estimate.low > 1) return "faster";
  return estimate.high < 1 ? "slower" : "";
}

std::string table_of(const std::vector<Change>& all, const std::string& operation, int columns) {
  Table table({operation, "huddle a", "huddle b", "ratio a", "ratio b", "change", "interval", ""},
              comparison_look);
  for (const Change& change : all) {
    if (change.before.operation != operation) continue;
    const bench::Estimate estimate = change.estimate();
    const std::string size =
        change.before.bytes == 0 ? "-" : size_text(static_cast<double>(change.before.bytes));
    table.add({size, time_text(change.before.huddle_ns), time_text(change.after.huddle_ns),
               fmt::format("{:.2f}", change.before.estimate.ratio),
               fmt::format("{:.2f}", change.after.estimate.ratio),
               fmt::format("{:.2f}", estimate.ratio),
               fmt::format("{:.2f}-{:.2f}", estimate.low, estimate.high),
               std::string(change_word(estimate))});
  }
  return "\n" + table.text(columns);
}

class BenchCompareCommand : public Command {
 public:
  std::string name() const override { return "compare"; }
  std::string summary() const override {
    return "show what became faster or slower between two results";
  }
  std::string description() const override {
    return "Compares two results of 'huddle bench --json FILE', for example from before and after "
           "an update, without measuring anything. It compares their ratios instead of their "
           "times, because the machine itself may have become faster or slower.";
  }
  std::string examples() const override {
    return "  huddle bench compare before.json after.json\n\n"
           "Exit status: 0 success, 1 a point became slower than 0.9 of its speed with 95 % "
           "confidence, 3 a file does not contain such results, or the files have no point in "
           "common.";
  }
  void declare(Options& options) override {
    options.positional("BEFORE", before_, "an earlier result of 'huddle bench --json FILE'");
    options.positional("AFTER", after_, "a later one");
    options.complete("BEFORE", Value::file);
    options.complete("AFTER", Value::file);
  }
  ExitCode run(const Context& context) override {
    if (after_.empty()) {
      throw UsageError("two results are required: huddle bench compare before.json after.json");
    }
    const Console& console = context.console;
    const MeasuredRun before = read_measured_run(before_);
    const MeasuredRun after = read_measured_run(after_);
    const std::vector<Change> all = changes(before, after);
    console.print(bench_compare_text(before, after, all, console.columns));
    if (all.empty()) throw InputError("the results have no operation and size in common");
    const bool is_fine = std::none_of(
        all.begin(), all.end(), [](const Change& change) { return change.is_slower_than_bar(); });
    return is_fine ? ExitCode::fine : ExitCode::failure;
  }

 private:
  std::string before_, after_;
};

}  // namespace

bench::Estimate Change::estimate() const {
  return {.ratio = after.estimate.ratio / before.estimate.ratio,
          .low = after.estimate.low / before.estimate.high,
          .high = after.estimate.high / before.estimate.low,
          .batches = std::min(before.estimate.batches, after.estimate.batches)};
}

bool Change::is_slower_than_bar() const { return estimate().high < bench::least_ratio; }

std::vector<Change> changes(const MeasuredRun& before, const MeasuredRun& after) {
  std::vector<Change> all;
  for (const MeasuredPoint& point : before.points) {
    const auto same = same_point(after, point);
    if (same) all.push_back({point, *same});
  }
  return all;
}

std::string bench_compare_text(const MeasuredRun& before, const MeasuredRun& after,
                               const std::vector<Change>& all, int columns) {
  std::string text = run_text('a', before, columns) + run_text('b', after, columns) +
                     differences(before, after, all, columns);
  std::vector<std::string> operations;
  std::vector<double> ratios;
  for (const Change& change : all) {
    ratios.push_back(change.estimate().ratio);
    const std::string& operation = change.before.operation;
    if (std::find(operations.begin(), operations.end(), operation) == operations.end()) {
      operations.push_back(operation);
    }
  }
  for (const std::string& operation : operations) text += table_of(all, operation, columns);
  if (ratios.empty()) return text;
  return text + "\n" +
         wrap("",
              fmt::format("From a to b, huddle became {:.2f} times as fast relative to the MPI: "
                          "geometric mean of {}.",
                          bench::geometric_mean(ratios),
                          counted(static_cast<long long>(ratios.size()), "point")),
              0, columns);
}

std::unique_ptr<Command> make_bench_compare_command() {
  return std::make_unique<BenchCompareCommand>();
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// huddle bench compare: what has become faster or slower from one result of huddle bench to
// another.
#include <algorithm>

#include "base/error.h"
#include "cli/bench_compare.h"
#include "cli/command.h"

namespace huddle::cli {
namespace {

class BenchCompareCommand : public Command {
 public:
  std::string name() const override { return "compare"; }
  std::string summary() const override {
    return "what has become faster or slower from one result to another";
  }
  std::string description() const override {
    return "Measures nothing: sets two results of 'huddle bench --json FILE' side by side, such as "
           "from before and after an update. It compares their ratios, not their times, since the "
           "machine itself may be faster or slower today.";
  }
  std::string examples() const override {
    return "  huddle bench compare then.json now.json\n\n"
           "Exit status: 0 fine, 1 something has become slower than 0.9 of its speed for certain, "
           "3 these are no results that this huddle knows, or have no point in common.";
  }
  void declare(Options& options) override {
    options.positional("BEFORE", before_, "what huddle bench --json has written");
    options.positional("AFTER", after_, "the same, later");
    options.complete("BEFORE", Value::file);
    options.complete("AFTER", Value::file);
  }
  ExitCode run(const Context& context) override {
    if (after_.empty()) {
      throw UsageError(
          "compare what with what? Two results are needed: huddle bench compare then.json "
          "now.json");
    }
    const Console& console = context.console;
    const MeasuredRun before = read_measured_run(before_);
    const MeasuredRun after = read_measured_run(after_);
    const std::vector<Change> all = changes(before, after);
    console.print(bench_compare_text(before, after, all, console.columns));
    if (all.empty()) throw InputError("the two have no point in common");
    const bool is_fine = std::none_of(
        all.begin(), all.end(), [](const Change& change) { return change.is_slower_than_bar(); });
    return is_fine ? ExitCode::fine : ExitCode::failure;
  }

 private:
  std::string before_, after_;
};

}  // namespace

std::unique_ptr<Command> make_bench_compare_command() {
  return std::make_unique<BenchCompareCommand>();
}

}  // namespace huddle::cli

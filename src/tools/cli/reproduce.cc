// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle reproduce`: what the papers found, figure by figure, and what huddle says instead.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/text.h"
#include "model/machine/discover.h"
#include "model/machine/locate.h"
#include "tools/bench/engine/run_comparison.h"
#include "tools/calibrate/cores.h"
#include "tools/cli/command.h"
#include "tools/cli/comparison_progress.h"
#include "tools/cli/interrupt.h"
#include "tools/cli/reproduce_report.h"
#include "tools/reproduce/measured.h"

namespace huddle::cli {
namespace {

class ReproduceCommand : public Command {
 public:
  std::string name() const override { return "reproduce"; }
  std::string summary() const override { return "the papers' figures, each beside huddle's own"; }
  std::string description() const override {
    return "Holds the figures of the papers that huddle grew out of against its own: those that "
           "are arithmetic computed again, ratios by the prices of the paper's machine, between "
           "nodes simulated. Figures of those machines are estimates for the most part: the band "
           "is where nine tenths of the answers lie when all estimates are drawn anew, 25 % up or "
           "down. What cannot be compared says why. Nothing is fitted: what misses, misses.";
  }
  std::string examples() const override {
    return "  huddle reproduce                     all papers\n"
           "  huddle reproduce kurnosov\n"
           "  huddle reproduce kurnosov --measure  two of its rows on this machine, too\n"
           "  huddle reproduce zhang --seed 7      other draws of the estimates\n"
           "  huddle reproduce --json | jq '.papers[].figures[] | [.name, .verdict]'";
  }

  void declare(Options& options) override {
    options.positional("PAPER", paper_, "one of them; else all");
    options.complete("PAPER", Value::word, reproduce::paper_names());
    options.number("--seed", seed_, 0, std::numeric_limits<int>::max(), "N",
                   "of the draws of what is estimated");
    options.flag("--measure", measure_,
                 "time kurnosov's broadcast through one, two and four buffers here");
    options.flag("--json", json_, "print everything as JSON");
  }

  ExitCode run(const Context& context) override {
    if (measure_ && !paper_.empty() && paper_ != measured_paper) {
      throw UsageError(fmt::format("there is nothing to measure for '{}': --measure is for {}",
                                   printable(paper_), measured_paper));
    }
    const reproduce::Measurements measured =
        measure_ ? measure(context.console) : reproduce::Measurements();
    Reproductions all{static_cast<std::uint64_t>(seed_), {}};
    const std::vector<std::string> papers =
        paper_.empty() ? reproduce::paper_names() : std::vector<std::string>{paper_};
    for (const std::string& paper : papers) {
      all.papers.push_back(reproduce::reproduced(paper, all.seed, measured));
    }
    context.console.print(json_ ? reproduce_json(all)
                                : reproduce_text(all, context.console.columns));
    return ExitCode::fine;
  }

 private:
  static constexpr const char* measured_paper = "kurnosov";

  static reproduce::Measurements measure(const Console& console) {
    constexpr int rounds = 20;
    const machine::Discovery here = machine::discover_this_machine();
    const std::vector<int> pus = calibrate::measured_pus(here.topology, here.allowed);
    if (pus.size() < 2) throw FailureError("two cores are needed to measure, and one may be used");
    const bench::Comparison comparison = reproduce::few_buffers(here.topology, pus);
    const Interrupt interrupt;
    ComparisonProgress watcher(console, 1);
    watcher.begin(comparison.name);
    const bench::Result result =
        bench::run_comparison(comparison, {machine::generic_machine(here.topology), rounds},
                              watcher, interrupt.requested());
    watcher.end();
    watcher.finish();
    if (interrupt.requested()) interrupt.die();
    if (result.switched_away > 0) {
      console.note(
          fmt::format("note: something else took a rank's processor {} times; on a busy "
                      "machine what is measured says little",
                      result.switched_away));
    }
    return reproduce::measurements_of(result);
  }

  std::string paper_;
  int seed_ = 1;
  bool measure_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_reproduce_command() { return std::make_unique<ReproduceCommand>(); }

}  // namespace huddle::cli

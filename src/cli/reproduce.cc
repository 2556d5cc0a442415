// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle reproduce`: what the papers found, figure by figure, and what huddle says instead.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/reproduce_report.h"

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
           "  huddle reproduce zhang --seed 7      other draws of the estimates\n"
           "  huddle reproduce --json | jq '.papers[].figures[] | select(.verdict == \"misses\")'";
  }

  void declare(Options& options) override {
    options.positional("PAPER", paper_, "one of them; else all");
    options.complete("PAPER", Value::word, reproduce::paper_names());
    options.number("--seed", seed_, 0, std::numeric_limits<int>::max(), "N",
                   "of the draws of what is estimated");
    options.flag("--json", json_, "print everything as JSON");
  }

  ExitCode run(const Context& context) override {
    Reproductions all{static_cast<std::uint64_t>(seed_), {}};
    const std::vector<std::string> papers =
        paper_.empty() ? reproduce::paper_names() : std::vector<std::string>{paper_};
    for (const std::string& paper : papers) {
      all.papers.push_back(reproduce::reproduced(paper, all.seed));
    }
    context.console.print(json_ ? reproduce_json(all)
                                : reproduce_text(all, context.console.columns));
    return ExitCode::fine;
  }

 private:
  std::string paper_;
  int seed_ = 1;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_reproduce_command() { return std::make_unique<ReproduceCommand>(); }

}  // namespace huddle::cli

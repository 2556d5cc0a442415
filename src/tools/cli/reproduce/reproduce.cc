// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle reproduce`: compares the papers' results, figure by figure, with huddle's predictions.

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/text.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "tools/bench/engine/run_comparison.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/cli/command.h"
#include "tools/cli/console.h"
#include "tools/cli/progress.h"
#include "tools/cli/reproduce/reproduce_report.h"
#include "tools/cli/terminal_text.h"
#include "tools/reproduce/experiment.h"
#include "tools/reproduce/reproduce.h"

namespace huddle::cli {
namespace {

using reproduce::Kind;
using reproduce::Row;
using reproduce::Summary;
using reproduce::Tally;
using reproduce::Verdict;

// Prints whole numbers with all digits, fractions with three significant ones.
std::string number_text(double number) {
  return number >= 100 ? fmt::format("{:.0f}", number) : fmt::format("{:.3g}", number);
}

std::string with_unit(const std::string& text, const std::string& unit) {
  return unit.empty() ? text : text + " " + unit;
}

std::string span_text(double from, double to) {
  const std::string low = number_text(from);
  const std::string high = number_text(to);
  return low == high ? low : low + " to " + high;
}

std::string published_text(const Row& row) {
  if (row.figure.kind == Kind::direction) return "< 1";
  if (!row.figure.published) return "-";
  const auto [from, to] = *row.figure.published;
  return with_unit(span_text(from, to), row.figure.unit);
}

std::string band_text(const Row& row) {
  if (!row.answer || !row.answer->band) return "-";
  return span_text(row.answer->band->low, row.answer->band->high);
}

// Returns whether a paper has several machines, which are then shown.
bool is_of_several_machines(const reproduce::Reproduction& one) {
  std::set<std::string> machines;
  for (const Row& row : one.rows) {
    if (!row.figure.on.empty()) machines.insert(row.figure.on);
  }
  return machines.size() > 1;
}

std::string name_of(const Row& row, bool with_machine) {
  const reproduce::Figure& figure = row.figure;
  const std::string on = with_machine && !figure.on.empty() ? " (" + figure.on + ")" : "";
  return printable(figure.where + ": " + figure.what + on);
}

// Returns the simulated value, marked if only one of it and the predicted one meets the claim.
std::string simulated_text(const Row& row) {
  if (!row.simulated) return "-";
  const bool agrees =
      reproduce::holds(row.figure, *row.simulated) == (row.verdict == Verdict::holds);
  return number_text(*row.simulated) + (agrees ? "" : row.verdict == Verdict::holds ? " -" : " +");
}

bool has_simulated(const reproduce::Reproduction& one) {
  return std::any_of(one.rows.begin(), one.rows.end(),
                     [](const Row& row) { return row.simulated.has_value(); });
}

std::string table_of(const reproduce::Reproduction& one, int columns) {
  const bool is_simulated = has_simulated(one);
  Table::Row heading = {"figure", "published", "huddle", "band"};
  if (is_simulated) heading.emplace_back("simulated");
  heading.emplace_back("verdict");
  Table table(heading, {.indent = 2});
  const bool with_machine = is_of_several_machines(one);
  for (const Row& row : one.rows) {
    Table::Row cells = {name_of(row, with_machine), published_text(row),
                        row.answer ? number_text(row.answer->ours) : "-", band_text(row)};
    if (is_simulated) cells.push_back(simulated_text(row));
    cells.emplace_back(reproduce::name(row.verdict));
    table.add(std::move(cells));
  }
  return table.text(columns);
}

std::string tested_text(const Row& row) {
  if (!row.changed) return "";
  return fmt::format(" Changing only this in the model gives {}.",
                     with_unit(number_text(*row.changed), row.figure.unit));
}

// Returns the reasons of all rows with this verdict.
std::string reasons(const reproduce::Reproduction& one, Verdict verdict, std::string_view heading,
                    int columns) {
  std::string text;
  const bool with_machine = is_of_several_machines(one);
  for (const Row& row : one.rows) {
    if (row.verdict != verdict) continue;
    if (verdict == Verdict::input && row.figure.why.empty()) continue;
    const std::string why = row.figure.why.empty() ? "The cause is unknown." : row.figure.why;
    text += wrap("  ", name_of(row, with_machine) + ": " + printable(why) + tested_text(row), 4,
                 columns);
  }
  return text.empty() ? text : fmt::format("{}\n{}", heading, text);
}

std::string tally_text(const Tally& tally, std::string_view what) {
  return fmt::format("{} of {} {}", tally.good, tally.rows, what);
}

std::string simulation_text(const Summary& summary) {
  if (summary.simulated.rows == 0) return "";
  return fmt::format(" With simulated protocols, {} hold, and {} are correct.",
                     tally_text(summary.simulated, "rows"),
                     tally_text(summary.simulated_direction, "directions"));
}

std::string summary_text(const std::vector<reproduce::Reproduction>& papers) {
  const Summary summary = reproduce::summary_of(papers);
  return fmt::format(
             "{} within {:g} %; {} within {:g} %; {} in the same direction; {} inputs not "
             "counted; {} not compared.",
             tally_text(summary.exact, "exact figures"), 100 * reproduce::exact_within,
             tally_text(summary.priced, "predicted figures"), 100 * reproduce::price_within,
             tally_text(summary.direction, "directions"), summary.inputs, summary.not_compared) +
         simulation_text(summary);
}

}  // namespace

std::string reproduce_text(const Reproductions& all, int columns) {
  const int width = std::min(columns, most_report_columns);
  std::string text;
  for (const reproduce::Reproduction& one : all.papers) {
    text += wrap("", printable(fmt::format("{}: {}", one.paper.name, one.paper.title)), 2, width);
    text += table_of(one, width) + reasons(one, Verdict::misses, "Misses:", width) +
            reasons(one, Verdict::input, "Inputs, not counted:", width) +
            reasons(one, Verdict::not_compared, "Not compared:", width) + "\n";
  }
  text += wrap("", summary_text(all.papers), 0, width);
  text +=
      wrap("",
           fmt::format(
               "Figures without a unit are ratios of times, or counts; below 1, the first one is "
               "faster, and a ratio agrees if the gain (1 - ratio) does. band: range of 90 % of {} "
               "results in which all estimates of the machine "
               "were varied by {:g} % (seed {}). simulated: result of the simulated protocol; + it "
               "holds although the prediction does not, - it has the opposite direction.",
               reproduce::draws, 100 * reproduce::estimates_spread, all.seed),
           0, width);
  return text;
}

namespace {

class ReproduceCommand : public Command {
 public:
  std::string name() const override { return "reproduce"; }
  std::string summary() const override { return "compare figures of papers with huddle's own"; }
  std::string description() const override {
    return "Compares figures from the papers that huddle builds on with huddle's own results. "
           "Arithmetic figures are computed again, ratios are predicted for the paper's machine, "
           "and communication between nodes is simulated. Most figures of these machines are "
           "estimates: the band is the range of 90 % of the results if all estimates are varied "
           "randomly by 25 %. Rows that cannot be compared show the reason. Nothing is fitted, "
           "except to "
           "the paper xhc, which is compared only if it is named.";
  }
  std::string examples() const override {
    return "  huddle reproduce                     all papers\n"
           "  huddle reproduce kurnosov\n"
           "  huddle reproduce kurnosov --measure  also measure one row on this machine\n"
           "  huddle reproduce zhang --seed 7      other random variations\n"
           "  huddle reproduce --json | jq '.papers[].figures[] | [.name, .verdict]'";
  }

  void declare(Options& options) override {
    options.positional("PAPER", paper_, "name of a paper (default: all but xhc)");
    options.complete("PAPER", Value::word, reproduce::paper_names());
    options.number("--seed", seed_, 0, std::numeric_limits<int>::max(), "N",
                   "seed of the random variations");
    options.flag("--measure", measure_,
                 "measure kurnosov's broadcast with small and large fragments on this machine");
    options.flag("--json", json_, "print everything as JSON");
  }

  ExitCode run(const Context& context) override {
    if (measure_ && !paper_.empty() && paper_ != measured_paper) {
      throw UsageError(fmt::format("--measure is not possible for '{}', only for {}",
                                   printable(paper_), measured_paper));
    }
    const reproduce::Measurements measured =
        measure_ ? measure(context.console) : reproduce::Measurements();
    Reproductions all{static_cast<std::uint64_t>(seed_), {}};
    const std::vector<std::string> papers =
        paper_.empty() ? reproduce::papers_without_fit() : std::vector<std::string>{paper_};
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
    if (pus.size() < 2)
      throw FailureError("measuring requires two cores, but this process may use only one");
    const bench::Comparison comparison = reproduce::fragment_sizes(here.topology, pus);
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
          fmt::format("note: other processes interrupted the ranks {} times; on a busy machine the "
                      "measured figures are not reliable",
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

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/reproduce_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/text.h"
#include "tools/cli/console.h"
#include "tools/cli/table.h"
#include "tools/cli/wrap.h"
#include "tools/reproduce/redraw.h"

namespace huddle::cli {
namespace {

using reproduce::Kind;
using reproduce::Row;
using reproduce::Summary;
using reproduce::Tally;
using reproduce::Verdict;

// Whole numbers with all their digits, fractions with three.
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

// On which machine as well, where a paper has several.
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

// Marked where it holds and the price does not, or the other way round.
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
  Table::Row heading = {"figure", "published", "ours", "band"};
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

// Of all rows with that verdict, why.
std::string reasons(const reproduce::Reproduction& one, Verdict verdict, std::string_view heading,
                    int columns) {
  std::string text;
  const bool with_machine = is_of_several_machines(one);
  for (const Row& row : one.rows) {
    if (row.verdict != verdict) continue;
    const std::string why = row.figure.why.empty() ? "Nobody knows why." : row.figure.why;
    text += wrap("  ", name_of(row, with_machine) + ": " + printable(why), 4, columns);
  }
  return text.empty() ? text : fmt::format("{}\n{}", heading, text);
}

std::string tally_text(const Tally& tally, std::string_view what) {
  return fmt::format("{} of {} {}", tally.good, tally.rows, what);
}

std::string simulation_text(const Summary& summary) {
  if (summary.simulated.rows == 0) return "";
  return fmt::format(" Of those whose protocols were simulated {} hold, {} the right way round.",
                     tally_text(summary.simulated, "rows"),
                     tally_text(summary.simulated_direction, "directions"));
}

std::string summary_text(const std::vector<reproduce::Reproduction>& papers) {
  const Summary summary = reproduce::summary_of(papers);
  return fmt::format("{} within {:g} %; {} within {:g} %; {} the right way round; {} not compared.",
                     tally_text(summary.exact, "exact figures"), 100 * reproduce::exact_within,
                     tally_text(summary.priced, "priced ones"), 100 * reproduce::price_within,
                     tally_text(summary.direction, "directions"), summary.not_compared) +
         simulation_text(summary);
}

}  // namespace

std::string reproduce_text(const Reproductions& all, int columns) {
  const int width = std::min(columns, most_report_columns);
  std::string text;
  for (const reproduce::Reproduction& one : all.papers) {
    text += wrap("", printable(fmt::format("{}: {}", one.paper.name, one.paper.title)), 2, width);
    text += table_of(one, width) + reasons(one, Verdict::misses, "Misses:", width) +
            reasons(one, Verdict::not_compared, "Not compared:", width) + "\n";
  }
  text += wrap("", summary_text(all.papers), 0, width);
  text += wrap(
      "",
      fmt::format("Figures without a unit are ratios of times, or counts; below 1 the "
                  "first is the faster. band: nine tenths of {} answers with all "
                  "estimates of the machine drawn anew within {:g} %, seed {}. simulated: by the "
                  "protocol in the modelled world; + where that holds and the price "
                  "does not, - where it is the other way round.",
                  reproduce::draws, 100 * reproduce::estimates_spread, all.seed),
      0, width);
  return text;
}

}  // namespace huddle::cli

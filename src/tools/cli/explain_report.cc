// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/explain_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "runtime/select/model_error.h"
#include "tools/cli/table.h"
#include "tools/cli/wrap.h"
#include "tools/picture/facts.h"

namespace huddle::cli {
namespace {

constexpr std::size_t shown = 10;  // enough to see what the choice was between

// ways: of doing the same, of which this is the cheapest.
std::string in_words(const select::Candidate& candidate, std::size_t ways = 1) {
  std::string text(algorithm_name(candidate.plan));
  if (ways > 1) text += fmt::format(", {} ways", ways);
  return candidate.parameters.empty() ? text : text + ": " + candidate.parameters;
}

std::string question(const select::Explanation& explanation) {
  const select::Request& request = explanation.request;
  const bool moves = request.operation != select::Operation::barrier;
  return fmt::format("{}{} on {} rank{}", name(request.operation),
                     moves ? " of " + size_text(static_cast<double>(request.bytes)) : "",
                     explanation.ranks, explanation.ranks == 1 ? "" : "s");
}

// One or more whole lines.
std::string bold(std::string lines, const Console& console) {
  if (!console.color) return lines;
  lines.pop_back();
  return fmt::format("\033[1m{}\033[0m\n", lines);
}

// Where the ranks' buffers lie, if they have a heap to lie in.
std::string where_buffers_are(const Explained& explained) {
  if (!explained.has_heap) return {};
  return explained.explanation.request.mapped
             ? "The ranks' arrays lie in the shared heap."
             : "The shared heap saves nothing here: arrays are too small for it, or moved as fast "
               "without.";
}

// Whose machine the figures are of, and what they do not know.
std::string ground(const Explained& explained, int columns) {
  const machine::Machine& machine = explained.subject.machine;
  std::string text = wrap("",
                          printable(picture::machine_title(machine)) + ", " +
                              printable(picture::calibration_line(explained.subject)),
                          2, columns);
  const int cores = core_count(machine.topology);
  if (explained.explanation.ranks > cores) {
    text +=
        wrap("",
             fmt::format("The machine has {} cores: ranks share them. Predictions are for ranks "
                         "that do not, so take their order, not their times.",
                         cores),
             0, columns);
  }
  return text;
}

// A line of the table.
struct Shown {
  const select::Candidate* candidate = nullptr;
  bool is_tie = false;   // as good as the first
  std::size_t ways = 1;  // this one, and the same algorithm with other parameters that is as good
};

// Near ties are one group: of each algorithm in it the best, and then what is dearer.
std::vector<Shown> few_of(const std::vector<select::Candidate>& candidates, std::size_t ties) {
  std::vector<Shown> few;
  for (std::size_t i = 0; i < ties; ++i) {
    const auto known = std::find_if(few.begin(), few.end(), [&](const Shown& one) {
      return algorithm_name(one.candidate->plan) == algorithm_name(candidates[i].plan);
    });
    if (known == few.end()) {
      few.push_back({&candidates[i], ties > 1});
    } else {
      ++known->ways;
    }
  }
  for (std::size_t i = ties; i < candidates.size() && few.size() < shown; ++i) {
    few.push_back({&candidates[i]});
  }
  return few;
}

std::vector<Shown> all_of(const std::vector<select::Candidate>& candidates, std::size_t ties) {
  std::vector<Shown> all;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    all.push_back({&candidates[i], i < ties && ties > 1});
  }
  return all;
}

using SimulatedTime = std::function<double(const select::Candidate&)>;

std::string table_of(const std::vector<Shown>& rows, const SimulatedTime& simulated_ns,
                     int columns) {
  Table::Row heading = {"could run", "predicted", "ratio"};
  if (simulated_ns) heading.emplace_back("simulated");
  Table table(heading, {});
  for (const Shown& row : rows) {
    const select::Candidate& candidate = *row.candidate;
    Table::Row cells = {
        in_words(candidate, row.ways), time_text(candidate.ns),
        fmt::format("{}{:.2f}", row.is_tie ? "~ " : "", candidate.ns / rows.front().candidate->ns)};
    if (simulated_ns) cells.push_back(time_text(simulated_ns(candidate)));
    table.add(std::move(cells));
  }
  return table.text(columns);
}

std::size_t candidates_in(const std::vector<Shown>& rows) {
  std::size_t number = 0;
  for (const Shown& row : rows) number += row.ways;
  return number;
}

// What the marks mean, and how far the figures can be trusted.
std::string trust(std::size_t ties, double error, int columns) {
  const std::string error_text =
      fmt::format("Half of all predictions are off by more than {}", percent(error));
  return wrap("", error_text + (ties > 1 ? ": those marked ~ are ties." : "."), 0, columns);
}

}  // namespace

std::string explain_text(const Explained& explained, bool all, const Console& console) {
  const int columns = std::min(console.columns, most_table_columns);
  const auto candidates = by_cost(explained.explanation.candidates);
  if (candidates.empty()) {
    return question(explained.explanation) + ": " + because_there_is_none(explained.explanation) +
           "\n";
  }
  const select::Candidate& chosen = select::chosen(explained.explanation);
  const std::size_t ties = near_ties(candidates, explained.error);
  const std::string answer =
      fmt::format("{}: predicted {}", question(explained.explanation), time_text(chosen.ns));
  std::string text =
      bold(wrap("", answer, 0, columns) + wrap("  by ", in_words(chosen), 5, columns), console);
  text += ground(explained, columns);
  const std::string forcing = select::forcing_text(explained.explanation);
  if (!forcing.empty()) text += wrap("", forcing + ".", 0, columns);
  const std::string buffers = where_buffers_are(explained);
  if (!buffers.empty()) text += wrap("", buffers, 0, columns);
  text += "\n";
  const std::vector<Shown> rows = all ? all_of(candidates, ties) : few_of(candidates, ties);
  text += table_of(rows, explained.simulated_ns, columns);
  const std::size_t in_rows = candidates_in(rows);
  if (in_rows < candidates.size()) {
    text += wrap("",
                 fmt::format("{} more, up to {}: --all", candidates.size() - in_rows,
                             time_text(candidates.back().ns)),
                 0, columns);
  }
  return text + trust(ties, explained.error, columns);
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/explain_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "cli/table.h"
#include "cli/wrap.h"
#include "picture/facts.h"

namespace huddle::cli {
namespace {

constexpr int widest = 100;        // a figure far from its name is hard to find
constexpr std::size_t shown = 10;  // enough to see what the choice was between

std::string in_words(const select::Candidate& candidate) {
  const std::string_view algorithm = algorithm_name(candidate.plan);
  if (candidate.parameters.empty()) return std::string(algorithm);
  return fmt::format("{}: {}", algorithm, candidate.parameters);
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

std::string table_of(const std::vector<select::Candidate>& candidates, std::size_t rows,
                     int columns) {
  Table table({"could run", "predicted", "ratio"}, {});
  for (std::size_t i = 0; i < rows; ++i) {
    const select::Candidate& candidate = candidates[i];
    table.add({in_words(candidate), time_text(candidate.ns),
               fmt::format("{:.2f}", candidate.ns / candidates.front().ns)});
  }
  return table.text(columns);
}

}  // namespace

std::string explain_text(const Explained& explained, bool all, const Console& console) {
  const int columns = std::min(console.columns, widest);
  const auto candidates = by_cost(explained.explanation.candidates);
  if (candidates.empty()) {
    return question(explained.explanation) + ": " + because_there_is_none(explained.explanation) +
           "\n";
  }
  const select::Candidate& chosen = candidates.front();
  const std::string answer =
      fmt::format("{}: predicted {}", question(explained.explanation), time_text(chosen.ns));
  std::string text =
      bold(wrap("", answer, 0, columns) + wrap("  by ", in_words(chosen), 5, columns), console);
  text += ground(explained, columns) + "\n";
  const std::size_t rows = all ? candidates.size() : std::min(shown, candidates.size());
  text += table_of(candidates, rows, columns);
  if (rows < candidates.size()) {
    text += wrap("",
                 fmt::format("{} more, up to {}: --all", candidates.size() - rows,
                             time_text(candidates.back().ns)),
                 0, columns);
  }
  return text;
}

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle reproduce`: the published figures of papers (papers/*.toml, one file per paper), and
// their comparison with huddle's own values.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/topology.h"
#include "tools/bench/engine/comparison.h"
#include "tools/reproduce/experiment.h"

namespace huddle::reproduce {

// The way in which a figure is compared.
enum class Kind {
  exact,           // computed or counted from data in the paper itself
  ratio,           // a ratio of two times, judged by the gain; huddle's times are predicted
  value,           // a time or a best size
  direction,       // which of two is faster: the first if the ratio is below 1
  input,           // not counted: huddle's value was fitted to it, or every model would agree
  not_comparable,  // no comparison; the figure contains the reason
};
inline constexpr std::array<std::string_view, 6> kind_names = {
    "exact", "ratio", "value", "direction", "input", "not comparable"};
constexpr std::string_view name(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

// A single value or, if the paper gives for example "20 to 40 %", a range.
struct Span {
  double from = 0;
  double to = 0;

  bool operator==(const Span&) const = default;
};

struct Figure {
  std::string name;   // also the name of its experiment: "barrier-levels"
  std::string where;  // place in the paper: "Fig. 6", "barrier"
  std::string what;   // what the figure measures, in half a sentence
  Kind kind = Kind::exact;
  std::vector<double> values = {};  // of a column of a table, in the printed precision
  std::optional<Span> published;    // none for a direction, which an input may also be
  std::string unit;                 // for example "us"; empty: none
  std::string on;   // the machine or fabric for which it is computed or measured; empty: none
  std::string why;  // reason if it is not counted or huddle's value misses it; empty: unknown
};

struct Paper {
  std::string name;   // for example "zhang"
  std::string title;  // authors and title
  std::vector<Figure> figures;
};

// Parses a file of figures. Throws InputError "FILE:LINE: what is wrong" if it is invalid.
Paper parse_paper(std::string_view text, const std::string& name);

// Loads the figures that huddle installs. Throws FailureError if they are not installed.
Paper load_paper(const std::string& name);

// Relative deviation within which values count as equal, for exact and for predicted figures. For a
// ratio it is the deviation of the gain: 0.96 is no agreement with a published 0.85. A direction
// must differ from 1 by more than exact_within, as times that are equal to that extent have no
// order.
inline constexpr double exact_within = 0.01;
inline constexpr double price_within = 0.2;

// A range that contains nine tenths of several values: of `draws` computations with random
// estimates, or of the rounds of a measurement.
inline constexpr int draws = 100;
struct Band {
  double low = 0;
  double high = 0;
  std::optional<int> held = {};  // number of draws for which the claim holds
};

enum class Verdict { holds, misses, input, not_compared };
inline constexpr std::array<std::string_view, 4> verdict_names = {"holds", "misses", "input",
                                                                  "not compared"};
constexpr std::string_view name(Verdict verdict) {
  return verdict_names[static_cast<std::size_t>(verdict)];
}

// huddle's value for a published figure: computed, predicted or measured.
struct Answer {
  double ours = 0;
  std::optional<Band> band;  // none if nothing is estimated or measured
};
// Returns the median of several values, and their band.
// Requires: there is at least one value.
Answer answer_of(std::vector<double> several);

// Answers from measurements on this machine, by pages of a fragment.
using Measurements = std::map<int, Answer>;

struct Row {
  Figure figure;
  std::optional<Answer> answer;
  std::optional<double> simulated;  // only if huddle has the protocol
  std::optional<double> changed;    // without the cause of a miss, if it has been tested
  Verdict verdict = Verdict::not_compared;
};

struct Reproduction {
  Paper paper;  // its figures are those of the rows
  std::vector<Row> rows;
};

// Returns all papers with experiments.
std::vector<std::string> paper_names();
// Returns the papers to whose figures nothing was fitted.
std::vector<std::string> papers_without_fit();

// Returns whether huddle's value `ours` agrees with the figure; false for figures that are not
// counted.
bool holds(const Figure& figure, double ours);
// Returns whether huddle's value agrees with the figure on which side is faster; none if the figure
// does not state this.
std::optional<bool> is_direction_right(const Figure& figure, double ours);

// Computes the rows of a paper. Figures whose required measurement is missing from `measured` are
// not compared. Throws InputError if a figure that is counted has no experiment.
Reproduction reproduced(Paper paper, const std::vector<Experiment>& experiments, std::uint64_t seed,
                        const Measurements& measured = {});
// Computes the rows of the paper with this name. Throws UsageError that suggests a similar name.
Reproduction reproduced(const std::string& paper, std::uint64_t seed,
                        const Measurements& measured = {});

// The number of rows, and of those that hold.
struct Tally {
  int rows = 0;
  int good = 0;
};
struct Summary {
  Tally exact;
  Tally priced;     // ratios and values
  Tally direction;  // rows that state which side is faster; good: huddle agrees
  // The same for simulated values.
  Tally simulated;
  Tally simulated_direction;
  int unexplained = 0;  // rows that miss and give no reason
  int inputs = 0;
  int not_compared = 0;
};
Summary summary_of(const std::vector<Reproduction>& all);

// Returns the comparison for the row that is measured on this machine: a broadcast of 16 MB between
// two ranks through a set of 32 buffers, as in the paper; each size of a buffer is an entry.
// Requires: at least two hardware threads.
bench::Comparison fragment_sizes(const machine::Topology& topology, const std::vector<int>& pus);

// Returns the time of each size of a fragment relative to single pages: the median over the rounds
// and its band.
// Requires: at least one complete round.
Measurements measurements_of(const bench::Result& result);

}  // namespace huddle::reproduce

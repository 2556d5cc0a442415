// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A paper's figures held against ours: `huddle reproduce`.
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

// What a paper says it found, figure by figure: the files papers/*.toml, one a paper.

// How a figure can be held against one of ours.
enum class Kind {
  exact,           // arithmetic or counting from what the paper itself gives
  ratio,           // a time by another time, of which ours are prices
  value,           // a time, or a size that is best, by itself
  direction,       // the first of two is the faster: the ratio is below 1
  not_comparable,  // not at all; the figure says why
};
inline constexpr std::array<std::string_view, 5> kind_names = {"exact", "ratio", "value",
                                                               "direction", "not comparable"};
constexpr std::string_view name(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

// One figure or, where the paper says "20 to 40 %", a span of them.
struct Span {
  double from = 0;
  double to = 0;

  bool operator==(const Span&) const = default;
};

struct Figure {
  std::string name;   // that of its experiment: "barrier-levels"
  std::string where;  // in the paper: "Fig. 6", "barrier"
  std::string what;   // of what it is a figure, in half a sentence
  Kind kind = Kind::exact;
  std::optional<Span> published;  // none of a direction
  std::string unit;               // "us"; empty: none
  std::string on;   // the machine or fabric it is computed or measured on; empty: neither
  std::string why;  // it cannot be compared, or ours misses it; empty: it is not known
};

struct Paper {
  std::string name;   // "zhang"
  std::string title;  // authors and title
  std::vector<Figure> figures;
};

// Throws InputError "FILE:LINE: what is wrong" for anything that is not a sound file of figures.
Paper parse_paper(std::string_view text, const std::string& name);

// The figures that come with huddle. Throws FailureError where they are not installed.
Paper load_paper(const std::string& name);

// Within which part of a published figure ours counts as the same: those that are arithmetic, and
// those that are prices.
inline constexpr double exact_within = 0.01;
inline constexpr double price_within = 0.2;

// Nine tenths of several answers lie between these: of ours with the estimates drawn anew so many
// times, or of rounds of a measurement.
inline constexpr int draws = 100;
struct Band {
  double low = 0;
  double high = 0;
  std::optional<int> held = {};  // how many of the draws hold
};

enum class Verdict { holds, misses, not_compared };
inline constexpr std::array<std::string_view, 3> verdict_names = {"holds", "misses",
                                                                  "not compared"};
constexpr std::string_view name(Verdict verdict) {
  return verdict_names[static_cast<std::size_t>(verdict)];
}

// What we say in place of a published figure: worked out, priced or measured.
struct Answer {
  double ours = 0;
  std::optional<Band> band;  // none where nothing of it is estimated or measured
};
// The median of several, and their band. pre: there is one.
Answer answer_of(std::vector<double> several);

// By the number of buffers.
using Measurements = std::map<int, Answer>;

struct Row {
  Figure figure;
  std::optional<Answer> answer;
  std::optional<double> simulated;  // beside a price, where there is a protocol for it
  Verdict verdict = Verdict::not_compared;
};

struct Reproduction {
  Paper paper;  // its figures are those of the rows
  std::vector<Row> rows;
};

// Of all papers that are done again.
std::vector<std::string> paper_names();

// Whether ours holds. pre: the figure can be compared.
bool holds(const Figure& figure, double ours);
// Whether it says of the same side that it is faster; nothing of figures that say it of neither.
std::optional<bool> is_direction_right(const Figure& figure, double ours);

// What is to be measured and was not is not compared. pre: every figure that can be compared has
// one of the experiments.
Reproduction reproduced(Paper paper, const std::vector<Experiment>& experiments, std::uint64_t seed,
                        const Measurements& measured = {});
// The same of the paper of that name. Throws UsageError that names the nearest.
Reproduction reproduced(const std::string& paper, std::uint64_t seed,
                        const Measurements& measured = {});

// How many rows of these there are, and how many hold.
struct Tally {
  int rows = 0;
  int good = 0;
};
struct Summary {
  Tally exact;
  Tally priced;     // ratios and values
  Tally direction;  // of all rows that have one: whether it is right
  // The same of what was simulated.
  Tally simulated;
  Tally simulated_direction;
  int unexplained = 0;  // rows that miss and do not say why
  int not_compared = 0;
};
Summary summary_of(const std::vector<Reproduction>& all);

// The rows that are measured, on the machine that we are on: a broadcast between two ranks through
// few buffers.

// Buffers of 8 KB in one set, as many as the paper had: each number of them an entry. pre: two
// processors or more.
bench::Comparison few_buffers(const machine::Topology& topology, const std::vector<int>& pus);

// Each number of buffers by the time of one, as ratios of rounds: their median, and where nine
// tenths of them lie. pre: a round was finished.
Measurements measurements_of(const bench::Result& result);

}  // namespace huddle::reproduce

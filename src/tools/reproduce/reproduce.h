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

#include "tools/reproduce/experiment.h"
#include "tools/reproduce/published.h"

namespace huddle::reproduce {

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

}  // namespace huddle::reproduce

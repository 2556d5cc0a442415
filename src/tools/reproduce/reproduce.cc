// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/reproduce/reproduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/error.h"
#include "common/text.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "tools/reproduce/redraw.h"

namespace huddle::reproduce {
namespace {

bool is_within(const Span& span, double ours, double part) {
  return std::abs(ours / std::clamp(ours, span.from, span.to) - 1) <= part;
}

// Those that come with huddle, whatever the user has under the same name.
std::string shipped(const std::string& below_machines) {
  return machine::installed_folder("machines") + below_machines + ".toml";
}

// pre: they rise.
Band band_of(const std::vector<double>& answers) {
  const std::size_t outside = answers.size() / 20;  // a twentieth on each side
  return {answers[outside], answers[answers.size() - 1 - outside]};
}

template <class Described, class Ours>
Answer answer_with_band(const Described& described, const Ours& ours, const Figure& figure,
                        std::uint64_t seed) {
  Draws drawn(seed);
  std::vector<double> answers(draws);
  for (double& answer : answers) answer = ours(redrawn(described, drawn));
  std::sort(answers.begin(), answers.end());
  Band band = band_of(answers);
  band.held = static_cast<int>(std::count_if(
      answers.begin(), answers.end(), [&figure](double answer) { return holds(figure, answer); }));
  return {ours(described), band};
}

std::optional<Answer> answer_to(const Figure& figure, const Experiment& experiment,
                                std::uint64_t seed, const Measurements& measured) {
  if (const auto* of_here = std::get_if<OfHere>(&experiment.ours)) {
    const auto found = measured.find(of_here->buffers);
    return found == measured.end() ? std::nullopt : std::optional(found->second);
  }
  if (const auto* of_paper = std::get_if<OfPaper>(&experiment.ours))
    return Answer{(*of_paper)(), {}};
  if (const auto* of_machine = std::get_if<OfMachine>(&experiment.ours)) {
    return answer_with_band(machine::read_machine_file(shipped(figure.on)), *of_machine, figure,
                            seed);
  }
  return answer_with_band(fabric::load_cluster(shipped("fabrics/" + figure.on), ""),
                          std::get<OfFabric>(experiment.ours), figure, seed);
}

const Laboratory& laboratory_of(const std::string& paper) {
  for (const Laboratory& laboratory : laboratories()) {
    if (laboratory.paper == paper) return laboratory;
  }
  const std::vector<std::string> names = paper_names();
  const std::string guess = did_you_mean(paper, names);
  throw UsageError(
      fmt::format("there is no paper '{}'{}", printable(paper),
                  guess.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : guess));
}

void count(Tally& tally, bool is_good) {
  ++tally.rows;
  if (is_good) ++tally.good;
}

}  // namespace

Answer answer_of(std::vector<double> several) {
  std::sort(several.begin(), several.end());
  return {several[several.size() / 2], band_of(several)};
}

std::span<const Laboratory> laboratories() {
  static constexpr std::array<Laboratory, 5> all = {{{"zhang", zhang_experiments},
                                                     {"liu", liu_experiments},
                                                     {"kurnosov", kurnosov_experiments},
                                                     {"chen", chen_experiments},
                                                     {"lu", lu_experiments}}};
  return all;
}

std::vector<std::string> paper_names() {
  std::vector<std::string> names;
  for (const Laboratory& laboratory : laboratories()) names.emplace_back(laboratory.paper);
  return names;
}

std::optional<bool> is_direction_right(const Figure& figure, double ours) {
  switch (figure.kind) {
    case Kind::direction:
      return ours < 1;
    case Kind::ratio:
      if (figure.published->to < 1) return ours < 1;
      if (figure.published->from > 1) return ours > 1;
      return std::nullopt;
    case Kind::exact:
    case Kind::value:
    case Kind::not_comparable:
      return std::nullopt;
  }
  return std::nullopt;
}

bool holds(const Figure& figure, double ours) {
  switch (figure.kind) {
    case Kind::exact:
      return is_within(*figure.published, ours, exact_within);
    case Kind::ratio:
    case Kind::value:
      return is_within(*figure.published, ours, price_within) &&
             is_direction_right(figure, ours).value_or(true);
    case Kind::direction:
      return ours < 1;
    case Kind::not_comparable:
      return false;
  }
  return false;
}

Reproduction reproduced(Paper paper, const std::vector<Experiment>& experiments, std::uint64_t seed,
                        const Measurements& measured) {
  Reproduction result;
  for (const Figure& figure : paper.figures) {
    Row row{figure, {}, {}, Verdict::not_compared};
    if (figure.kind != Kind::not_comparable) {
      const auto experiment =
          std::find_if(experiments.begin(), experiments.end(),
                       [&figure](const Experiment& one) { return one.figure == figure.name; });
      if (experiment == experiments.end()) {
        throw InputError(fmt::format("figure '{}' of {} has no experiment", printable(figure.name),
                                     printable(paper.name)));
      }
      row.answer = answer_to(figure, *experiment, seed, measured);
      if (row.answer) {
        row.verdict = holds(figure, row.answer->ours) ? Verdict::holds : Verdict::misses;
        if (experiment->simulated) {
          row.simulated = experiment->simulated(machine::read_machine_file(shipped(figure.on)));
        }
      }
    }
    result.rows.push_back(std::move(row));
  }
  result.paper = std::move(paper);
  return result;
}

Reproduction reproduced(const std::string& paper, std::uint64_t seed,
                        const Measurements& measured) {
  const Laboratory& laboratory = laboratory_of(paper);
  return reproduced(load_paper(paper), laboratory.experiments(), seed, measured);
}

Summary summary_of(const std::vector<Reproduction>& all) {
  Summary summary;
  for (const Reproduction& one : all) {
    for (const Row& row : one.rows) {
      if (!row.answer) {
        ++summary.not_compared;
        continue;
      }
      const bool is_good = row.verdict == Verdict::holds;
      if (row.figure.kind == Kind::exact) count(summary.exact, is_good);
      if (row.figure.kind == Kind::ratio || row.figure.kind == Kind::value) {
        count(summary.priced, is_good);
      }
      if (const auto right = is_direction_right(row.figure, row.answer->ours)) {
        count(summary.direction, *right);
      }
      if (!is_good && row.figure.why.empty()) ++summary.unexplained;
      if (!row.simulated) continue;
      count(summary.simulated, holds(row.figure, *row.simulated));
      if (const auto right = is_direction_right(row.figure, *row.simulated)) {
        count(summary.simulated_direction, *right);
      }
    }
  }
  return summary;
}

}  // namespace huddle::reproduce

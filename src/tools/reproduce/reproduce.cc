// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/reproduce/reproduce.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/text.h"
#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "model/machine/toml_reader.h"
#include "runtime/node/bcast_protocols.h"
#include "tools/bench/engine/comparison.h"
#include "tools/bench/engine/protocol_alone.h"
#include "tools/reproduce/experiment.h"

namespace huddle::reproduce {
namespace {

using machine::TomlTable;

constexpr int schema = 1;

double positive(TomlTable& table, const std::string& key) {
  const double value = table.number(key);
  if (value <= 0) table.refuse(key, fmt::format("'{}' must be above 0", key));
  return value;
}

bool is_within(const Span& span, double ours, double part) {
  return std::abs(ours / std::clamp(ours, span.from, span.to) - 1) <= part;
}

// Compares what the first of two saves, or what it loses if it is the slower one, so that a model
// in which both are equal never agrees.
bool is_gain_within(const Span& ratio, double ours, double part) {
  return ratio.to < 1 ? is_within({1 - ratio.to, 1 - ratio.from}, 1 - ours, part)
                      : is_within({ratio.from - 1, ratio.to - 1}, ours - 1, part);
}

std::optional<Span> published(TomlTable& table) {
  if (table.has("value")) {
    const double value = positive(table, "value");
    return Span{value, value};
  }
  if (!table.has("from") && !table.has("to")) return std::nullopt;
  const Span span{positive(table, "from"), positive(table, "to")};
  if (span.from > span.to) table.refuse("from", "'from' is above 'to'");
  return span;
}

// A column agrees if all of its values do.
Span all_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  return {count, count};
}

void check(const TomlTable& table, const Figure& figure) {
  switch (figure.kind) {
    case Kind::ratio:
    case Kind::exact:
    case Kind::value:
      if (!figure.published) table.refuse("", "a figure requires value, or from and to");
      if (figure.kind == Kind::ratio && is_within(*figure.published, 1, exact_within))
        table.refuse("", "a model without differences also agrees with 1: use kind = \"input\"");
      return;
    case Kind::direction:
      if (figure.published) table.refuse("", "a direction has no value: it is a ratio below 1");
      return;
    case Kind::input:
    case Kind::not_comparable:
      if (figure.why.empty())
        table.refuse("", "give the reason why it is not counted: why = \"...\"");
      return;
  }
}

Figure figure_of(TomlTable& table) {
  Figure figure;
  figure.name = table.text("name");
  figure.where = table.text("where");
  figure.what = table.text("what");
  figure.kind = static_cast<Kind>(table.word("kind", {kind_names.begin(), kind_names.end()}));
  figure.values = table.numbers_or_none("values");
  figure.published = figure.values.empty() ? published(table) : all_of(figure.values);
  figure.unit = table.text_or("unit", "");
  figure.on = table.text_or("on", "");
  figure.why = table.text_or("why", "");
  table.finish();
  check(table, figure);
  return figure;
}

}  // namespace

Paper parse_paper(std::string_view text, const std::string& name) {
  TomlTable document = TomlTable::parse(text, name);
  document.integer("schema", schema, schema);
  Paper paper{document.text("name"), document.text("title"), {}};
  std::set<std::string> seen;
  for (TomlTable& table : document.tables("figure")) {
    paper.figures.push_back(figure_of(table));
    const std::string& figure = paper.figures.back().name;
    if (!seen.insert(figure).second) {
      table.refuse("name", fmt::format("figure '{}' occurs twice", figure));
    }
  }
  document.finish();
  return paper;
}

Paper load_paper(const std::string& name) {
  const std::string folder = machine::installed_folder("papers");
  if (folder.empty()) {
    throw FailureError(
        "the figures of the papers (share/huddle/papers) are missing; reinstall huddle");
  }
  const std::string path = folder + name + ".toml";
  return parse_paper(read_text(path), path);
}

namespace {

// Returns the path of a file that huddle installs, even if the user has one of the same name.
std::string shipped(const std::string& below_machines) {
  return machine::installed_folder("machines") + below_machines + ".toml";
}

// Requires: `answers` are sorted.
Band band_of(const std::vector<double>& answers) {
  const std::size_t outside = answers.size() / 20;  // a twentieth on each side
  return {answers[outside], answers[answers.size() - 1 - outside]};
}

// Returns whether `printed` is `ours` as a table prints it: with at most two decimals, rounded.
bool is_rounded(double printed, double ours) {
  double last_digit = 1;
  while (last_digit > 0.01 &&
         std::abs(printed / last_digit - std::round(printed / last_digit)) > 1e-9)
    last_digit /= 10;
  return std::abs(printed - ours) <= last_digit / 2 + 1e-9;
}

// Returns the number of equal values.
double agreement(const std::vector<double>& printed, const std::vector<double>& ours) {
  int equal = 0;
  for (std::size_t i = 0; i < std::min(printed.size(), ours.size()); ++i) {
    equal += is_rounded(printed[i], ours[i]) ? 1 : 0;
  }
  return equal;
}

template <class Described, class OfDescribed>
Answer answer_with_band(const Described& described, const OfDescribed& ours, const Figure& figure,
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
    const auto found = measured.find(of_here->fragment_pages);
    return found == measured.end() ? std::nullopt : std::optional(found->second);
  }
  if (const auto* of_paper = std::get_if<OfPaper>(&experiment.ours))
    return Answer{(*of_paper)(), {}};
  if (const auto* of_column = std::get_if<OfColumn>(&experiment.ours))
    return Answer{agreement(figure.values, (*of_column)()), {}};
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
      fmt::format("unknown paper '{}'{}", printable(paper),
                  guess.empty() ? fmt::format("; use one of {}", fmt::join(names, ", ")) : guess));
}

Verdict verdict_of(const Figure& figure, const std::optional<Answer>& answer) {
  if (figure.kind == Kind::input) return Verdict::input;
  if (!answer) return Verdict::not_compared;
  return holds(figure, answer->ours) ? Verdict::holds : Verdict::misses;
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
  static constexpr std::array<Laboratory, 6> all = {{{"zhang", zhang_experiments},
                                                     {"liu", liu_experiments},
                                                     {"kurnosov", kurnosov_experiments},
                                                     {"chen", chen_experiments},
                                                     {"lu", lu_experiments},
                                                     {"xhc", xhc_experiments, true}}};
  return all;
}

std::vector<std::string> paper_names() {
  std::vector<std::string> names;
  for (const Laboratory& laboratory : laboratories()) names.emplace_back(laboratory.paper);
  return names;
}

std::vector<std::string> papers_without_fit() {
  std::vector<std::string> names;
  for (const Laboratory& laboratory : laboratories()) {
    if (!laboratory.is_fitted) names.emplace_back(laboratory.paper);
  }
  return names;
}

std::optional<bool> is_direction_right(const Figure& figure, double ours) {
  switch (figure.kind) {
    case Kind::direction:
      return ours < 1 - exact_within;
    case Kind::ratio:
      return figure.published->to < 1 ? ours < 1 - exact_within : ours > 1 + exact_within;
    case Kind::exact:
    case Kind::value:
    case Kind::input:
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
      return is_gain_within(*figure.published, ours, price_within);
    case Kind::value:
      return is_within(*figure.published, ours, price_within);
    case Kind::direction:
      return ours < 1 - exact_within;
    case Kind::input:
    case Kind::not_comparable:
      return false;
  }
  return false;
}

Reproduction reproduced(Paper paper, const std::vector<Experiment>& experiments, std::uint64_t seed,
                        const Measurements& measured) {
  Reproduction result;
  for (const Figure& figure : paper.figures) {
    result.rows.push_back({figure, {}, {}, {}, verdict_of(figure, std::nullopt)});
    Row& row = result.rows.back();
    if (figure.kind == Kind::not_comparable) continue;
    const auto experiment =
        std::find_if(experiments.begin(), experiments.end(),
                     [&figure](const Experiment& one) { return one.figure == figure.name; });
    if (experiment == experiments.end()) {
      // The machine file itself contains such an input.
      if (figure.kind == Kind::input) continue;
      throw InputError(fmt::format("figure '{}' of {} has no experiment", printable(figure.name),
                                   printable(paper.name)));
    }
    row.answer = answer_to(figure, *experiment, seed, measured);
    row.verdict = verdict_of(figure, row.answer);
    if (!row.answer) continue;
    const auto on_machine = [&figure](const OfMachine& ours) {
      return ours ? std::optional(ours(machine::read_machine_file(shipped(figure.on))))
                  : std::nullopt;
    };
    row.simulated = on_machine(experiment->simulated);
    row.changed = on_machine(experiment->changed);
  }
  result.paper = std::move(paper);
  return result;
}

Reproduction reproduced(const std::string& paper, std::uint64_t seed,
                        const Measurements& measured) {
  const Laboratory& laboratory = laboratory_of(paper);
  Reproduction result = reproduced(load_paper(paper), laboratory.experiments(), seed, measured);
  for (Row& row : result.rows) {
    if (laboratory.is_fitted) row.verdict = Verdict::input;
  }
  return result;
}

Summary summary_of(const std::vector<Reproduction>& all) {
  Summary summary;
  for (const Reproduction& one : all) {
    for (const Row& row : one.rows) {
      if (row.verdict == Verdict::input) ++summary.inputs;
      if (row.verdict == Verdict::not_compared) ++summary.not_compared;
      if (!row.answer || row.verdict == Verdict::input) continue;
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

namespace {

using node::PipelinedBcast;

constexpr int ranks = 2;
constexpr std::size_t message = 16 << 20;
constexpr int buffers = 32;
// In pages; the first one is the reference for the others.
constexpr std::array fragments = {1, 16};

}  // namespace

bench::Comparison fragment_sizes(const machine::Topology& topology, const std::vector<int>& pus) {
  const std::vector<int> of_ranks = {pus[0], pus[1]};
  const node::RankLocality locality = node::locality(topology, of_ranks);
  bench::Comparison comparison{.name = "broadcast of 16M by size of the fragments",
                               .binding = {ranks, of_ranks},
                               .bytes = message,
                               .entries = {},
                               .judgements = {}};
  for (const int pages : fragments) {
    const PipelinedBcast::Parameters parameters{
        {{node::Shape::Kind::flat, 1}}, node::page_bytes, buffers * pages, 1};
    comparison.entries.push_back(
        {.name = "fragments of " + counted(pages, "page"),
         .implementation = std::make_unique<bench::ProtocolBcast<PipelinedBcast>>(
             locality, comparison.binding.oversubscribed(), parameters,
             PipelinedBcast::Plan{0, pages, memory::CopyKernel::plain}),
         .calls = 1,
         .stretches = bench::Scale{}.single_calls(message)});
  }
  return comparison;
}

Measurements measurements_of(const bench::Result& result) {
  Measurements measurements;
  const std::vector<double>& pages_ns = result.entries.front().ns;
  for (std::size_t entry = 1; entry < fragments.size(); ++entry) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < pages_ns.size(); ++round) {
      ratios.push_back(result.entries[entry].ns[round] / pages_ns[round]);
    }
    measurements.emplace(fragments[entry], answer_of(std::move(ratios)));
  }
  return measurements;
}

}  // namespace huddle::reproduce

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include "tools/cli/explain/explain_guidelines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "common/error.h"
#include "common/text.h"
#include "model/machine/cost.h"
#include "runtime/node/locality.h"
#include "runtime/select/explain.h"
#include "runtime/select/operation.h"
#include "tools/bench/harness/points.h"
#include "tools/cli/node_choice.h"
#include "tools/cli/terminal_text.h"
#include "tools/picture/facts.h"

namespace huddle::cli {
namespace {

using bench::Extent;
using bench::Guideline;
using bench::GuidelinePoint;
using bench::Mockup;
using bench::Step;
using select::Operation;

constexpr int most_guideline_ranks = 256;
constexpr const char* explained_sizes = "8:4M:2";

// Predicts what a team of these ranks would run, once for each request.
class Predictor {
 public:
  // Keeps references.
  Predictor(const Context& context, const node::RankLocality& locality,
            const machine::CostModel& model, bool is_here)
      : locality_(locality), model_(model), team_(node_team(context, locality, model, is_here)) {}

  PredictedCalls call_of(const GuidelinePoint& point) {
    const Guideline& guideline = point.guideline;
    return of(guideline.operation, guideline.call_scale * point.bytes);
  }
  PredictedCalls mockup_of(const GuidelinePoint& point) {
    const Guideline& guideline = point.guideline;
    if (guideline.mockup != Mockup::none) return steps_of(point);
    PredictedCalls calls = of(guideline.operation, guideline.mockup_scale * point.bytes);
    calls.ns *= guideline.repetitions;
    return calls;
  }

 private:
  // Returns infinity if no algorithm can serve the request.
  const PredictedCalls& of(Operation operation, std::size_t bytes) {
    const auto [at, is_new] = known_.try_emplace({operation, bytes});
    if (is_new) at->second = predicted(select::request_of(operation, bytes, locality_.ranks()));
    return at->second;
  }
  PredictedCalls predicted(const select::Request& request) const {
    const select::Explanation explanation = explanation_of(request, locality_, model_, team_);
    if (explanation.candidates.empty()) return {std::numeric_limits<double>::infinity(), ""};
    const select::Candidate& chosen = select::chosen(explanation);
    return {std::max(chosen.ns, memory_ns(request)),
            std::string(select::algorithm_name(chosen.plan))};
  }
  // Returns the lower bound by memory if the selection does not know it, because each size of a
  // v-form is known to two ranks only. All sizes are equal here.
  double memory_ns(select::Request request) const {
    if (!select::has_pairwise_sizes(request.operation)) return 0;
    request.operation = select::regular_form(request.operation);
    return select::memory_ns(request, locality_, model_);
  }
  PredictedCalls steps_of(const GuidelinePoint& point) {
    const bench::MockupTraits& traits = bench::traits_of(point.guideline.mockup);
    PredictedCalls all{local_ns(bytes_of(traits.local, point.bytes, locality_.ranks())), ""};
    for (const Step& step : traits.steps) {
      if (step.extent == Extent::nothing) continue;
      const PredictedCalls& one =
          of(step.operation, bytes_of(step.extent, point.bytes, locality_.ranks()));
      all.ns += one.ns;
      all.algorithms += (all.algorithms.empty() ? "" : " + ") + one.algorithms;
    }
    return all;
  }
  // Returns the time in which each rank copies these bytes at the same time.
  double local_ns(std::size_t bytes) const {
    if (bytes == 0) return 0;
    const int processor = locality_.pus.front();
    return model_.copy_ns({.bytes = static_cast<double>(bytes),
                           .copier = processor,
                           .peer = processor,
                           .others = locality_.ranks() - 1});
  }

  const node::RankLocality& locality_;
  const machine::CostModel& model_;
  const NodeTeam team_;
  std::map<std::pair<Operation, std::size_t>, PredictedCalls> known_;
};

void add_points(const std::vector<GuidelinePoint>& points, int ranks, Predictor& predictor,
                GuidelinesExplained& explained) {
  for (const GuidelinePoint& point : points) {
    PredictedGuideline one{point, ranks, predictor.call_of(point), predictor.mockup_of(point)};
    if (!std::isfinite(one.call.ns) || !std::isfinite(one.mockup.ns)) {
      ++explained.unknown;
      continue;
    }
    ++explained.points;
    if (one.ratio() > 1 + explained.tolerance) explained.violations.push_back(std::move(one));
  }
}

}  // namespace

std::vector<int> guideline_ranks(int cores) {
  std::set<int> all;
  for (int ranks = 2; ranks <= std::min(cores, most_guideline_ranks); ranks *= 2) {
    all.insert({ranks, std::min(ranks + ranks / 2, cores)});
  }
  return {all.begin(), all.lower_bound(most_guideline_ranks + 1)};
}

GuidelinesExplained guidelines_explained(const Context& context, const picture::Subject& subject,
                                         const GuidelinesQuestion& question) {
  const machine::Topology& topology = subject.machine.topology;
  const bool is_here = subject.allowed.has_value();
  const auto groups = binding_groups(question.binding, topology, topology.pus);
  const machine::CostModel model(subject.machine);
  GuidelinesExplained explained;
  explained.subject = subject;
  explained.ranks = guideline_ranks(core_count(topology));
  explained.tolerance = question.tolerance;
  if (question.ranks > 0) explained.ranks = {question.ranks};
  if (explained.ranks.empty()) {
    throw UsageError("the machine has only one core; give a number of ranks with -n");
  }
  const auto guidelines = bench::guidelines_from(question.ops);
  const auto sizes = bench::sizes_from(question.sizes.empty() ? explained_sizes : question.sizes);
  for (const int ranks : explained.ranks) {
    const node::RankLocality locality = node::locality(topology, bound_processors(ranks, groups));
    Predictor predictor(context, locality, model, is_here);
    add_points(guideline_points(guidelines, sizes, ranks), ranks, predictor, explained);
  }
  return explained;
}

namespace {

std::string bytes_text(const GuidelinePoint& point) {
  return point.bytes == 0 ? "-" : size_text(static_cast<double>(point.bytes));
}

// Violations of the same guideline.
using Violations = std::vector<const PredictedGuideline*>;

std::vector<Violations> by_guideline(const std::vector<PredictedGuideline>& all) {
  std::vector<Violations> groups;
  for (const PredictedGuideline& one : all) {
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const Violations& group) {
      return group.front()->point.guideline == one.point.guideline;
    });
    if (known == groups.end()) {
      groups.push_back({&one});
    } else {
      known->push_back(&one);
    }
  }
  return groups;
}

// Returns for example "8-64", or "8" if both ends are equal.
std::string range_text(const std::string& least, const std::string& most) {
  return least == most ? least : least + "-" + most;
}

template <class Less>
std::pair<const PredictedGuideline*, const PredictedGuideline*> ends(const Violations& group,
                                                                     Less less) {
  const auto [least, most] = std::minmax_element(
      group.begin(), group.end(), [&less](const auto* a, const auto* b) { return less(*a, *b); });
  return {*least, *most};
}

Table::Row row_of(const Violations& group) {
  const auto [fewest, most] =
      ends(group, [](const auto& a, const auto& b) { return a.ranks < b.ranks; });
  const auto [smallest, largest] =
      ends(group, [](const auto& a, const auto& b) { return a.point.bytes < b.point.bytes; });
  const auto [best, worst] =
      ends(group, [](const auto& a, const auto& b) { return a.ratio() < b.ratio(); });
  return {text(worst->point.guideline),
          fmt::format("{}", group.size()),
          range_text(fmt::format("{}", fewest->ranks), fmt::format("{}", most->ranks)),
          range_text(bytes_text(smallest->point), bytes_text(largest->point)),
          fmt::format("{:.2f}", worst->ratio()),
          fmt::format("{} on {}", bytes_text(worst->point), worst->ranks)};
}

std::string summary_table(const GuidelinesExplained& explained, int columns) {
  Table table({"violated", "points", "ranks", "sizes", "worst", "at"}, {});
  for (const Violations& group : by_guideline(explained.violations)) table.add(row_of(group));
  return '\n' + table.text(columns);
}

std::string full_table(const GuidelinesExplained& explained, int columns) {
  Table table({"violated", "ranks", "size", "call", "mock-up", "ratio"}, {});
  for (const PredictedGuideline& one : explained.violations) {
    table.add({fmt::format("{}: {}; {}", text(one.point.guideline), one.call.algorithms,
                           one.mockup.algorithms),
               fmt::format("{}", one.ranks), bytes_text(one.point), time_text(one.call.ns),
               time_text(one.mockup.ns), fmt::format("{:.2f}", one.ratio())});
  }
  return '\n' + table.text(columns);
}

std::string conclusion(const GuidelinesExplained& explained) {
  std::string text = fmt::format(
      "{} of {} violated: the predicted time of the call exceeds {:.2f} times that of its mock-up.",
      explained.violations.size(), counted(static_cast<long long>(explained.points), "point"),
      1 + explained.tolerance);
  if (explained.unknown > 0) {
    text += fmt::format(" {} without a prediction.",
                        counted(static_cast<long long>(explained.unknown), "more point"));
  }
  return text;
}

}  // namespace

std::string explain_guidelines_text(const GuidelinesExplained& explained, bool all,
                                    const Console& console) {
  const int columns = std::min(console.columns, most_table_columns);
  std::string text = wrap("",
                          printable(picture::machine_title(explained.subject.machine)) + ", " +
                              printable(picture::calibration_line(explained.subject)),
                          2, columns);
  text += wrap("", fmt::format("ranks: {}", fmt::join(explained.ranks, ", ")), 2, columns);
  if (!explained.violations.empty()) {
    text += all ? full_table(explained, columns) : summary_table(explained, columns);
  }
  return text + '\n' + wrap("", conclusion(explained), 0, columns);
}

}  // namespace huddle::cli

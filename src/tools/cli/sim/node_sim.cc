// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/text.h"
#include "model/machine/topology.h"
#include "runtime/select/algorithm.h"
#include "simulate/protocols/predict.h"
#include "tools/cli/node_choice.h"
#include "tools/cli/progress.h"
#include "tools/cli/selected_machine.h"
#include "tools/cli/sim/sim_report.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

using machine::CpuSet;
using machine::Topology;

// Returns the hardware thread of each rank, for a launcher's binding option or a list of hardware
// threads in rank order.
std::vector<int> seated(const std::string& bind, int ranks, const Topology& topology) {
  const int cores = core_count(topology);
  const bool is_list = !bind.empty() && bind.find_first_not_of("0123456789,-") == std::string::npos;
  const CpuSet listed = is_list ? CpuSet::parse(bind) : CpuSet();
  if (const CpuSet gone = without(listed, topology.pus); !gone.empty()) {
    throw InputError(fmt::format("--bind: this machine has no hardware thread {}", gone.text()));
  }
  const int places = is_list ? listed.count() : cores;
  const int all = ranks > 0 ? ranks : places;
  if (all > std::min(places, cores)) {
    throw UsageError(
        fmt::format("{} ranks on {} cores: ranks that share a core cannot be simulated", all,
                    std::min(places, cores)));
  }
  if (is_list) return {listed.begin(), listed.begin() + all};
  std::vector<int> pus =
      bound_processors(all, binding_groups(bind.empty() ? "core" : bind, topology, topology.pus));
  if (share_a_processor(pus)) {
    throw UsageError(fmt::format("--bind {}: ranks that share a core cannot be simulated", bind));
  }
  return pus;
}

// Returns the cheapest candidate of the algorithm, or the chosen one if `algorithm` is empty.
select::Candidate candidate_of(const NodeChoice& choice, const std::string& algorithm) {
  const select::Explanation& explanation = choice.explanation;
  if (explanation.candidates.empty()) throw UsageError(because_there_is_none(explanation));
  if (algorithm.empty()) return select::chosen(explanation);
  for (const select::Candidate& one : by_cost(explanation.candidates)) {
    if (algorithm_name(one.plan) == algorithm) return one;
  }
  std::vector<std::string> names;
  for (const select::Algorithm& one :
       select::algorithms(explanation.request.operation, choice.resources)) {
    names.emplace_back(one.name);
  }
  const std::string_view operation = name(explanation.request.operation);
  if (std::find(names.begin(), names.end(), algorithm) != names.end()) {
    throw UsageError(fmt::format("{} cannot run this {}", algorithm, operation));
  }
  const std::string guess = did_you_mean(algorithm, names);
  throw UsageError(
      fmt::format("{} has no algorithm '{}'{}", operation, printable(algorithm),
                  guess.empty() ? fmt::format("; use one of {}", fmt::join(names, ", ")) : guess));
}

// Points with a longer predicted time are left out because their simulation would take too long.
constexpr double longest_compared_ns = 50e6;
constexpr std::array<std::size_t, 5> compared_bytes = {8, 4096, 65536, 1 << 20, 16 << 20};

// Returns whether one rank has input that the others lack, or receives output that they do not.
bool has_root(select::Operation operation) {
  const select::Traits& traits = select::traits_of(operation);
  using enum select::Amount;
  return traits.in == all_at_root || traits.out == all_at_root || gathers_at_root(operation) ||
         scatters_from_root(operation);
}

void check_root(select::Operation operation, int root) {
  if (root == 0 || has_root(operation)) return;
  throw UsageError(fmt::format("{} has no root: remove --root", name(operation)));
}

std::string question(const select::Request& request, int ranks) {
  const bool moves = request.operation != select::Operation::barrier;
  return fmt::format("{}{} on {}", name(request.operation),
                     moves ? " of " + size_text(static_cast<double>(request.bytes)) : "",
                     counted(ranks, "rank"));
}

double share_done(const std::vector<int>& numbers, int number, select::Operation operation) {
  const auto at = std::find(numbers.begin(), numbers.end(), number) - numbers.begin();
  const double of_number =
      static_cast<double>(operation) / static_cast<double>(select::operations.size());
  return (static_cast<double>(at) + of_number) / static_cast<double>(numbers.size());
}

// Shows the progress of a simulation: a bar in a terminal, otherwise one line if it takes long.
class SimulationProgress {
 public:
  SimulationProgress(const Console& console, const std::string& what)
      : console_(console), what_(what), bar_(console, 1) {
    if (!console_.progress) return;
    bar_.begin_step(what);
    bar_.update(0);
  }

  void update(double share) {
    if (console_.progress) return bar_.update(share);
    if (has_noted_) return;
    const std::chrono::duration<double> gone = Clock::now() - start_;
    if (gone < patience || share <= 0) return;
    has_noted_ = true;
    console_.note(fmt::format("huddle: {}: {:.0f} % simulated after {:.0f} s, about {:.0f} s left",
                              what_, 100 * share, gone.count(),
                              gone.count() * (1 - share) / share));
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Most simulations take less.
  static constexpr std::chrono::seconds patience{5};

  const Console& console_;
  std::string what_;
  Progress bar_;
  Clock::time_point start_ = Clock::now();
  bool has_noted_ = false;
};

}  // namespace

double ModelComparison::agreeing() const {
  const auto agree =
      std::count_if(points.begin(), points.end(), [](const Compared& one) { return one.agrees(); });
  return points.empty() ? 1 : static_cast<double>(agree) / static_cast<double>(points.size());
}

void NodeSim::declare(Options& options) {
  options.text("--bind", bind_, "WORD",
               fmt::format("inside a node: hardware threads of the ranks such as 0-3,8, or what "
                           "each rank is bound to: {} (default: core)",
                           fmt::join(binding_words(), ", ")));
  options.complete("--bind", Value::word, binding_words());
  options.text("--algorithm", algorithm_, "NAME",
               "inside a node: simulate this algorithm instead of the selected one");
  options.text("--trace", trace_, "FILE", "inside a node: write a trace for Perfetto");
  options.flag("--compare-predictions", against_prices_,
               "inside a node: compare simulated with predicted times, for every operation");
  for (const char* const mine : {"--bind", "--algorithm", "--trace", "--compare-predictions"}) {
    options.exclude("--fabric", mine);
  }
  options.exclude("--compare-predictions", "--root");
}

void NodeSim::run(const Context& context, const Words& words) const {
  const Console& console = context.console;
  if (against_prices_) {
    if (!words.operation.empty()) {
      throw UsageError("--compare-predictions covers every operation: remove OPERATION and SIZE");
    }
    const ModelComparison compared = against_prices(context, words.ranks);
    console.print(words.json ? against_prices_json(compared)
                             : against_prices_text(compared, console));
    return;
  }
  const NodeSimulated result = simulated(context, words);
  if (!trace_.empty()) write_text(protocols::trace_json(result.outcome), trace_);
  console.print(words.json ? node_sim_json(result) : node_sim_text(result, console));
}

NodeSimulated NodeSim::simulated(const Context& context, const Words& words) const {
  const std::size_t colon = words.operation.find(':');
  const std::string algorithm =
      colon == std::string::npos ? algorithm_ : words.operation.substr(colon + 1);
  select::Request request = node_request("sim", words.operation.substr(0, colon), words.size);
  check_root(request.operation, words.root);
  const SelectedMachine machine =
      machine_in_question(context, machine::discover_this_machine().topology);
  const machine::Machine& described = machine.loaded.machine;
  const node::RankLocality locality =
      node::locality(described.topology, seated(bind_, words.ranks, described.topology));
  if (words.root >= locality.ranks()) {
    throw UsageError(fmt::format("--root {}: ranks are numbered from 0 to {}", words.root,
                                 locality.ranks() - 1));
  }
  const machine::CostModel model(described);
  const NodeChoice choice = node_choice(context, request, locality, model, machine.is_here());
  NodeSimulated result{choice.explanation.request,      words.root, described.name, locality.pus,
                       candidate_of(choice, algorithm), {}};
  SimulationProgress progress(context.console, question(result.request, locality.ranks()));
  result.outcome = protocols::predict(
      {result.request, locality, choice.resources, model, !trace_.empty(), words.root,
       [&progress](double share) { progress.update(share); }, result.candidate.ns},
      result.candidate.plan);
  return result;
}

ModelComparison NodeSim::against_prices(const Context& context, int ranks) const {
  const SelectedMachine machine =
      machine_in_question(context, machine::discover_this_machine().topology);
  const machine::Machine& described = machine.loaded.machine;
  const machine::CostModel model(described);
  const int most = ranks > 0 ? ranks : core_count(described.topology);
  ModelComparison result{described.name, {}, 0};
  SimulationProgress progress(context.console, "every operation");
  std::vector<int> numbers;
  for (int number = std::min(4, most); number < most; number *= 2) numbers.push_back(number);
  numbers.push_back(most);
  for (const int number : numbers) {
    const node::RankLocality locality =
        node::locality(described.topology, seated(bind_, number, described.topology));
    for (const select::Operation operation : select::operations) {
      if (regular_form(operation) != operation) continue;
      progress.update(share_done(numbers, number, operation));
      for (const std::size_t bytes : compared_bytes) {
        const bool moves = operation != select::Operation::barrier;
        if (!moves && bytes != compared_bytes.front()) continue;
        const select::Request request = select::request_of(operation, moves ? bytes : 0, number);
        const NodeChoice choice = node_choice(context, request, locality, model, false);
        if (choice.explanation.candidates.empty()) continue;
        const select::Candidate& chosen = select::chosen(choice.explanation);
        if (chosen.ns > longest_compared_ns) {
          ++result.left_out;
          continue;
        }
        const auto outcome = protocols::predict(
            {choice.explanation.request, locality, choice.resources, model, false}, chosen.plan);
        result.points.push_back({request, number, std::string(algorithm_name(chosen.plan)),
                                 chosen.ns, outcome.all_ns()});
      }
    }
  }
  return result;
}

std::string node_sim_text(const NodeSimulated& simulated, const Console& console) {
  const int columns = std::min(console.columns, most_table_columns);
  const protocols::model::Outcome& outcome = simulated.outcome;
  const auto ranks = static_cast<int>(outcome.ns.size());
  std::string text =
      wrap("",
           fmt::format("{}{}: simulated {}, predicted {}", question(simulated.request, ranks),
                       simulated.root > 0 ? fmt::format(", root {}", simulated.root) : "",
                       time_text(outcome.all_ns()), time_text(simulated.candidate.ns)),
           0, columns);
  text += wrap("  algorithm ",
               std::string(algorithm_name(simulated.candidate.plan)) +
                   (simulated.candidate.parameters.empty() ? "" : ": ") +
                   simulated.candidate.parameters,
               5, columns);
  text += wrap("  machine ", printable(simulated.machine), 5, columns) + "\n";
  const auto [first, last] = std::minmax_element(outcome.ns.begin(), outcome.ns.end());
  text +=
      wrap("",
           fmt::format("The first rank finishes after {} (rank {}), the last after {} (rank {}).",
                       time_text(*first), first - outcome.ns.begin(), time_text(*last),
                       last - outcome.ns.begin()),
           0, columns);
  if (const auto* busiest = outcome.busiest()) {
    text += wrap("",
                 fmt::format("Busiest resource: {}, for {} of the time.", busiest->name,
                             percent(outcome.busy_share(*busiest))),
                 0, columns);
  }
  Table lines({"cache lines between ranks", "number"}, {});
  for (std::size_t level = 0; level < outcome.levels.size(); ++level) {
    if (outcome.lines_by_level[level] > 0) {
      lines.add({"inside one " + outcome.levels[level],
                 fmt::format("{}", outcome.lines_by_level[level])});
    }
  }
  text += "\n" + lines.text(columns);
  Table controllers({"controller", "bytes", "busy"}, {});
  bool is_any = false;
  for (const auto& resource : outcome.resources) {
    if (!resource.is_controller) continue;
    is_any = true;
    controllers.add(
        {resource.name, size_text(resource.passed_bytes), percent(outcome.busy_share(resource))});
  }
  if (is_any) text += "\n" + controllers.text(columns);
  for (const std::string& one : outcome.not_derived) {
    text += wrap("", "Not simulated: " + one + ".", 0, columns);
  }
  return text;
}

std::string against_prices_text(const ModelComparison& compared, const Console& console) {
  const int columns = std::min(console.columns, most_table_columns);
  Table table({fmt::format("differing by a factor above {}", agree_within), "predicted",
               "simulated", "ratio"},
              {});
  std::vector<Compared> rows = compared.points;
  std::stable_sort(rows.begin(), rows.end(), [](const Compared& a, const Compared& b) {
    return std::max(a.ratio(), 1 / a.ratio()) > std::max(b.ratio(), 1 / b.ratio());
  });
  for (const Compared& one : rows) {
    if (one.agrees()) continue;
    table.add({question(one.request, one.ranks) + " by " + one.algorithm, time_text(one.price_ns),
               time_text(one.simulated_ns), fmt::format("{:.2f}", one.ratio())});
  }
  std::string text = table.text(columns);
  text += wrap(
      "",
      fmt::format(
          "{}: {} of {} differ by at most a factor of {}; {} with a time above {} were left out.",
          printable(compared.machine), percent(compared.agreeing()),
          counted(static_cast<int>(compared.points.size()), "prediction"), agree_within,
          compared.left_out, time_text(longest_compared_ns)),
      0, columns);
  return text;
}

}  // namespace huddle::cli

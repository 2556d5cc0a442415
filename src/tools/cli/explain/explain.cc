// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle explain`: shows what a collective would do on a machine and why, without creating a team.

#include <fmt/format.h>
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/system.h"
#include "common/text.h"
#include "model/machine/topology.h"
#include "runtime/node/locality.h"
#include "runtime/select/explain.h"
#include "runtime/select/model_error.h"
#include "simulate/protocols/predict.h"
#include "tools/cli/command.h"
#include "tools/cli/explain/explain_guidelines.h"
#include "tools/cli/explain/explain_report.h"
#include "tools/cli/explain/explain_tuning.h"
#include "tools/cli/node_choice.h"
#include "tools/cli/selected_machine.h"
#include "tools/cli/terminal_text.h"
#include "tools/picture/facts.h"

namespace huddle::cli {
namespace {

constexpr std::size_t shown = 10;  // enough to see the alternatives

// `ways`: number of equivalent candidates, of which this one is the cheapest.
std::string in_words(const select::Candidate& candidate, std::size_t ways = 1) {
  std::string text(algorithm_name(candidate.plan));
  if (ways > 1) text += fmt::format(", {} variants", ways);
  return candidate.parameters.empty() ? text : text + ": " + candidate.parameters;
}

std::string question(const select::Explanation& explanation) {
  const select::Request& request = explanation.request;
  const bool moves = request.operation != select::Operation::barrier;
  return fmt::format("{}{} on {} rank{}", name(request.operation),
                     moves ? " of " + size_text(static_cast<double>(request.bytes)) : "",
                     explanation.ranks, explanation.ranks == 1 ? "" : "s");
}

// Requires: `lines` consists of one or more whole lines.
std::string bold(std::string lines, const Console& console) {
  if (!console.color) return lines;
  lines.pop_back();
  return fmt::format("\033[1m{}\033[0m\n", lines);
}

// States whether the ranks' buffers are in the shared heap, if there is one.
std::string where_buffers_are(const Explained& explained) {
  if (!explained.has_heap) return {};
  return explained.explanation.request.mapped
             ? "The ranks' arrays are in the shared heap."
             : "The shared heap saves no time here: the arrays are too small for it, or the data "
               "move as fast without it.";
}

// Names the machine of the figures and what they do not include.
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
             fmt::format("The machine has {} cores, so ranks share them. Predicted times are for "
                         "ranks that do not share cores: compare them with each other only.",
                         cores),
             0, columns);
  }
  return text;
}

// A line of the table.
struct Shown {
  const select::Candidate* candidate = nullptr;
  bool is_tie = false;  // as good as the first
  std::size_t ways =
      1;  // this one and equally good candidates of the same algorithm with other parameters
};

// Returns the table's lines. Near ties form one group with the best candidate of each algorithm;
// costlier candidates follow.
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
  Table::Row heading = {"algorithm", "predicted", "ratio"};
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

// Explains the marks and the accuracy of the figures.
std::string trust(std::size_t ties, double error, int columns) {
  const std::string error_text = fmt::format(
      "Half of all predictions differ from the measured time by more than {}", percent(error));
  return wrap("", error_text + (ties > 1 ? ": consider those marked ~ as equal." : "."), 0,
              columns);
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
  std::string text = bold(
      wrap("", answer, 0, columns) + wrap("  algorithm ", in_words(chosen), 4, columns), console);
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
                 fmt::format("{} more, up to {}; show them with --all", candidates.size() - in_rows,
                             time_text(candidates.back().ns)),
                 0, columns);
  }
  return text + trust(ties, explained.error, columns);
}

namespace {

// More ranks than any shared-memory machine has; their trees would take minutes.
constexpr int most_explained_ranks = 4096;
constexpr int most_tolerance_percent = 1000;

class ExplainCommand : public Command {
 public:
  std::string name() const override { return "explain"; }
  std::string summary() const override {
    return "show which algorithm a collective would run, and why";
  }
  std::string description() const override {
    return "Shows which algorithm huddle would run for a collective, which others are possible, "
           "and their predicted times. Everything follows from the machine model, so it also works "
           "for other machines. OPERATION is an MPI collective, such as bcast or MPI_Bcast. SIZE "
           "is the amount of data of one rank, or of one block of an allgather, alltoall, gather "
           "or scatter, such as 64, 8K or 1.5M; reductions have elements of type double. 'huddle "
           "run' makes the same choice with the same --machine and --heap, if the launcher binds "
           "the ranks in order as --bind describes; by default each rank to one core.";
  }
  std::string examples() const override {
    return "  huddle explain allreduce 64K        one rank per core of this machine\n"
           "  huddle explain barrier -n 16        on the first 16 cores\n"
           "  huddle explain bcast 4M -n 32 --machine songshan\n"
           "  huddle explain allgather 1M --heap on --bind socket\n"
           "  huddle explain reduce 8 --all       all possible algorithms\n"
           "  huddle explain bcast 64K -n 8 --algo bcast:segmented   with this algorithm\n"
           "  huddle explain bcast 1K --json | jq .chosen\n"
           "  huddle explain allreduce 64K --nodes 16 --ranks-per-node 32\n"
           "  huddle explain allgather 8K --map 3,1,2,1   3 ranks on the first node\n"
           "  huddle explain bcast 1M --nodes 8 --net-algo bcast:chain   with this algorithm\n"
           "  huddle explain --guidelines --machine songshan   violated guidelines\n"
           "  huddle explain --guidelines scan,exscan 8:4M -n 16 --all\n"
           "  huddle explain --from-run app.json   what trials have found out\n\n"
           "A time counts from the call of the first rank until the return of the last rank, on an "
           "otherwise idle machine on which each rank has its own core.\n\n"
           "Exit status: 0 success; 1 with --guidelines, if the predicted times violate one.";
  }

  void declare(Options& options) override {
    options.positional("OPERATION", operation_,
                       fmt::format("{}", fmt::join(select::operation_names, ", ")));
    options.complete("OPERATION", Value::word,
                     {select::operation_names.begin(), select::operation_names.end()});
    options.positional("SIZE", size_, "bytes per rank, such as 64, 8K or 1.5M; not for a barrier");
    options.number("-n,--ranks", ranks_, 1, most_explained_ranks, "N",
                   "number of ranks (default: one per core)");
    nodes_.declare(options);
    options.setting("machine");
    described_.declare(options);
    options.exclude("--machine", "--xml");
    options.exclude("--machine", "--synthetic");
    options.setting("heap");
    options.setting("algo");
    options.setting("net-algo");
    options.setting("net-leaders");
    options.text("--bind", bind_, "WORD",
                 fmt::format("what the launcher binds each rank to: {} (default: core)",
                             fmt::join(binding_words(), ", ")));
    options.complete("--bind", Value::word, binding_words());
    options.flag("--simulate", simulate_, "also show the simulated time of each algorithm");
    options.flag("--all", all_,
                 "show all possible algorithms instead of the ten fastest, or every violation of a "
                 "guideline");
    options.flag(
        "--guidelines", guidelines_,
        "list the performance guidelines that the predicted times violate, for several "
        "numbers of ranks up to the number of cores; OPERATION and SIZE may be lists, as in "
        "huddle bench --ops and --sizes");
    options.number("--tolerance", tolerance_percent_, 0, most_tolerance_percent, "PERCENT",
                   "with --guidelines: how much longer a call may take (default: 5)");
    options.need("--tolerance", "--guidelines");
    options.text("--from-run", tuning_file_, "FILE",
                 "show the results of trials that a program has stored with HUDDLE_TUNE=FILE, "
                 "beside the predictions");
    options.flag("--json", json_, "print everything as JSON");
    for (const char* const ours : {"--nodes", "--ranks-per-node", "--map"}) {
      for (const char* const of_one_node : {"--ranks", "--simulate", "--all", "--guidelines"}) {
        options.exclude(ours, of_one_node);
      }
    }
    options.exclude("--guidelines", "--simulate");
    for (const char* const question : {"OPERATION", "--ranks", "--nodes", "--ranks-per-node",
                                       "--map", "--bind", "--simulate", "--all", "--guidelines"}) {
      options.exclude("--from-run", question);
    }
  }

  ExitCode run(const Context& context) override {
    if (guidelines_) return explain_guidelines(context);
    if (!tuning_file_.empty()) {
      const TuningExplained explained =
          tuning_explained(context, subject_of(context), tuning_file_);
      context.console.print(json_ ? explain_tuning_json(explained)
                                  : explain_tuning_text(explained, context.console));
      return ExitCode::fine;
    }
    const select::Request request = node_request("explain", operation_, size_);
    const Console& console = context.console;
    if (nodes_.given()) {
      const NodesExplained explained = explained_between(context, request);
      console.print(json_ ? explain_nodes_json(explained) : explain_nodes_text(explained, console));
      return ExitCode::fine;
    }
    const Explained explained = explained_for(context, request);
    console.print(json_ ? explain_json(explained) : explain_text(explained, all_, console));
    return ExitCode::fine;
  }

 private:
  ExitCode explain_guidelines(const Context& context) const {
    if (ranks_ == 1) throw UsageError("guidelines are about at least two ranks: use -n 2 or more");
    const GuidelinesExplained explained =
        guidelines_explained(context, subject_of(context),
                             {.ops = operation_,
                              .sizes = size_,
                              .binding = bind_,
                              .ranks = ranks_,
                              .tolerance = tolerance_percent_ / 100.0});
    const Console& console = context.console;
    console.print(json_ ? explain_guidelines_json(explained)
                        : explain_guidelines_text(explained, all_, console));
    return explained.violations.empty() ? ExitCode::fine : ExitCode::failure;
  }

  // Returns the machine. Its allowed hardware threads are known only if it is this one.
  picture::Subject subject_of(const Context& context) const {
    if (described_.is_given()) {
      picture::Subject subject{machine::generic_machine(described_.discover().topology),
                               std::nullopt, "", false};
      subject.machine.name = described_.name();
      return subject;
    }
    const machine::Discovery here = machine::discover_this_machine();
    const SelectedMachine in_question = machine_in_question(context, here.topology);
    picture::Subject subject{in_question.loaded.machine, std::nullopt, in_question.loaded.path,
                             in_question.is_here()};
    if (in_question.is_here()) subject.allowed = here.allowed;
    return subject;
  }

  static std::function<double(const select::Candidate&)> simulation(
      select::Request request, const node::RankLocality& locality, const machine::Machine& machine,
      const select::TeamResources& resources) {
    check_simulated(locality.pus);
    return [request, locality, machine, resources](const select::Candidate& candidate) {
      const machine::CostModel model(machine);
      return protocols::predict({request, locality, resources, model}, candidate.plan).all_ns();
    };
  }

  Explained explained_for(const Context& context, const select::Request& request) const {
    const picture::Subject subject = subject_of(context);
    const machine::Machine& machine = subject.machine;
    const machine::Topology& topology = machine.topology;
    const bool is_here = subject.allowed.has_value();
    const machine::CpuSet usable =
        is_here ? common(*subject.allowed, topology.pus) : machine::CpuSet();
    const auto groups = binding_groups(bind_, topology, usable.empty() ? topology.pus : usable);
    const int ranks = ranks_ > 0 ? ranks_ : core_count(topology);
    const node::RankLocality locality = node::locality(topology, bound_processors(ranks, groups));
    const machine::CostModel model(machine);
    NodeChoice choice = node_choice(context, request, locality, model, is_here);
    Explained explained{
        std::move(choice.explanation), locality.pus, subject, bind_, choice.has_heap,
        select::model_error(machine)};
    if (simulate_)
      explained.simulated_ns =
          simulation(explained.explanation.request, locality, machine, choice.resources);
    return explained;
  }

  // Explains a collective on nodes like this machine, with ranks bound according to --bind.
  NodesExplained explained_between(const Context& context, const select::Request& request) const {
    const picture::Subject subject = subject_of(context);
    const machine::Topology& topology = subject.machine.topology;
    const internode::NodeMap map = nodes_.map(core_count(topology));
    int ranks = 0;
    for (int node = 0; node < map.nodes(); ++node) ranks = std::max(ranks, map.ranks_on(node));
    const auto groups = binding_groups(bind_, topology, topology.pus);
    const node::RankLocality locality = node::locality(topology, bound_processors(ranks, groups));
    const machine::CostModel model(subject.machine);
    const auto in_node = [&](const select::Request& part) -> std::optional<select::Candidate> {
      if (ranks == 1) return std::nullopt;
      const select::Explanation explanation =
          node_choice(context, part, locality, model, /*is_here=*/false).explanation;
      if (explanation.candidates.empty()) return std::nullopt;
      return select::chosen(explanation);
    };
    const std::string& forced = settings::find(context.settings, "net-algo").value;
    std::optional<internode::Sharing> sharing;
    if (const auto leaders = whole_number(settings::find(context.settings, "net-leaders").value)) {
      sharing = internode::Sharing{static_cast<int>(std::min<long long>(*leaders, map.ranks()))};
    }
    return nodes_explained(request, nodes_, subject, map, in_node,
                           internode::ForcedAlgorithms(forced), sharing);
  }

  std::string operation_, size_;
  std::string bind_ = "core";
  std::string tuning_file_;
  NodesOptions nodes_;
  DescribedMachine described_;
  int ranks_ = 0;
  int tolerance_percent_ = 5;
  bool guidelines_ = false;
  bool all_ = false;
  bool simulate_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle map`: finds a placement of ranks or threads from their communication matrix.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <string>
#include <vector>

#include "common/text.h"
#include "model/machine/topology.h"
#include "placement/mapping/bandwidth.h"
#include "placement/mapping/emit.h"
#include "placement/mapping/method.h"
#include "tools/cli/command.h"
#include "tools/cli/machine_list.h"
#include "tools/cli/map/map_report.h"
#include "tools/cli/selected_machine.h"
#include "tools/picture/facts.h"

namespace huddle::cli {
namespace {

constexpr int most_mapped_nodes = 65'536;
constexpr int most_pattern_ranks = 4096;
// `exact` is included in comparisons if it takes at most about a second.
constexpr long long most_to_compare = 1'000'000;

std::vector<std::string> method_words() {
  return {mapping::method_names.begin(), mapping::method_names.end()};
}

std::vector<std::string> emission_words() {
  std::vector<std::string> words;
  for (const mapping::EmissionInfo& info : mapping::emissions()) words.emplace_back(info.name);
  return words;
}

// Lines such as "a rankfile for Open MPI 4" by name, for the help.
std::string emission_list() {
  std::string text;
  for (const mapping::EmissionInfo& info : mapping::emissions()) {
    text += fmt::format("  {:<16} {}{}\n", info.name, info.what, info.read_back ? " *" : "");
  }
  return text;
}

mapping::Rows rows_named(const std::string& word) {
  if (word.empty() || word == "first") return mapping::Rows::first;
  if (word == "last") return mapping::Rows::last;
  throw UsageError(fmt::format("--rows must be first or last, not '{}'{}", printable(word),
                               did_you_mean(word, std::vector<std::string>{"first", "last"})));
}

std::vector<std::string> split_hosts(const std::string& text) {
  std::vector<std::string> hosts;
  if (text.empty()) return hosts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    hosts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return hosts;
}

class MapCommand : public Command {
 public:
  std::string name() const override { return "map"; }
  std::string summary() const override {
    return "place ranks or threads by how much they communicate";
  }
  std::string description() const override {
    return "Reads how much data each rank or thread sends to every other one, and finds the "
           "placement with the shortest predicted time: the sum of the times that they wait for "
           "each other's cache lines and for memory. Ranks or threads that communicate most are "
           "placed close to each other. If the matrix contains their memory traffic, those that "
           "stream are spread over L3 caches and NUMA nodes, as far as this saves more time than "
           "it costs. Otherwise nodes, sockets and NUMA nodes get equal numbers. --pack ignores "
           "memory, and fills one socket before the next. The command shows both parts of the "
           "time before and after, the place of each rank or thread, and the reason. It recommends "
           "no change if the gain is small, or if a profile of threads contains too few events. "
           "The placement before is the one in --current, or else that of the hosts in a profile, "
           "or else the order of numbers on cores in equal numbers per NUMA node.";
  }
  std::string examples() const override {
    return "  huddle map huddle-comm.json\n"
           "  huddle map huddle-comm.json --phase 2 --collectives\n"
           "  huddle map app.csv --rows last --machine machines/songshan.toml\n"
           "  huddle map app.json --nodes 4 --hosts n1,n2,n3,n4 --emit openmpi4 > rankfile\n"
           "  huddle map app.json --fixed 0=0 --compare\n"
           "  huddle map app.json --pack      for programs that need little memory bandwidth\n"
           "  huddle map --pattern halo2d -n 64 --emit srun-map-cpu\n"
           "  huddle map --compare      the methods on typical patterns, as a table\n\n"
           "MATRIX is a file of huddle profile, CSV (a row of numbers for each rank or thread), "
           "Matrix Market, lines of 'from to bytes', or the output of Open MPI's monitoring. The "
           "two directions of each pair are added up.\n\n"
           "Methods: order, compact, scatter and random ignore the matrix. lh forms groups from "
           "the innermost level of the machine outwards, and is the fastest. tree, the default, "
           "divides from the whole machine inwards; it improves the result, that of lh and the "
           "current placement by moves and swaps, and keeps the best. exact tries every "
           "placement.\n\n"
           "Each core gets one rank or thread until there are more of them than cores.\n\n"
           "Formats of --emit:\n" +
           emission_list() +
           "Formats marked * were tested by reading the placement back from the real launcher; the "
           "others follow its documentation.\n\n"
           "Exit status: 0 success, 2 wrong usage, 3 the matrix or another file is invalid.";
  }

  void declare(Options& options) override {
    options.positional("MATRIX", matrix_,
                       "the file with the communication matrix, or - for standard input");
    options.complete("MATRIX", Value::file);
    options.text("--pattern", pattern_, "PATTERN",
                 fmt::format("in place of MATRIX: ranks with equal messages in this pattern: {}",
                             fmt::join(mapping::pattern_words, ", ")));
    options.complete("--pattern", Value::word,
                     {mapping::pattern_words.begin(), mapping::pattern_words.end()});
    options.number("-n,--ranks", ranks_, 2, most_pattern_ranks, "N",
                   "number of ranks of --pattern");
    options.setting("machine");
    options.flag("--list-machines", list_machines_,
                 "list the machines that --machine accepts by name");
    options.number(
        "--nodes", nodes_, 1, most_mapped_nodes, "N",
        "number of nodes (default: one, or with --machine the smallest sufficient number)");
    options.flag("--pack", packs_,
                 "fill one socket before the next, for programs that are not limited by memory "
                 "bandwidth (default: equal numbers on sockets and NUMA nodes)");
    options.text("--cpus", allowed_, "LIST",
                 "the hardware threads of each node to use, such as 0-15");
    options.text("--method", method_, "METHOD",
                 "order, compact, scatter, random, lh, tree or exact (default: tree)");
    options.complete("--method", Value::word, method_words());
    options.flag("--as-published", as_printed_,
                 "with --method lh: spread few ranks evenly, as in the publication");
    options.text(
        "--rows", rows_, "first|last",
        "whether the first line of a CSV file contains the first or the last row (default: first)");
    options.complete("--rows", Value::word, {"first", "last"});
    options.text("--phase", phase_, "NAME", "for a profile: use only this phase");
    options.flag("--collectives", collectives_,
                 "for a profile: also count the data that collectives move");
    options.text("--fixed", fixed_, "LIST",
                 "ranks or threads that must not move: 3=12, or 3=1:12 for node 1");
    options.text("--current", present_, "FILE",
                 "the current placement, with one line such as 3=12 per rank or thread");
    options.number("--min-gain", least_gain_percent_, 0, 100, "PERCENT",
                   "minimum saving of predicted time that justifies a move (default: 3)");
    options.number("--seed", seed_, 0, 1'000'000'000, "N", "seed of random choices (default: 1)");
    options.text("--emit", emit_, "FORMAT",
                 "print the placement for a launcher or runtime in this format");
    options.complete("--emit", Value::word, emission_words());
    options.text("--hosts", hosts_, "LIST",
                 "names of the nodes for --emit (default: the hosts in the profile)");
    options.flag("--compare", compare_, "compare all methods");
    options.flag("--dry-run", dry_run_,
                 "with --compare and no matrix: only show the rows of the table");
    options.flag("--json", json_, "print everything as JSON");
    options.exclude("--emit", "--json");
    options.exclude("--emit", "--compare");
  }

  ExitCode run(const Context& context) override {
    if (list_machines_) {
      context.console.print(json_ ? machine_list_json(list_machines(), name())
                                  : machine_list_text(list_machines(), context.console.columns));
      return ExitCode::fine;
    }
    const mapping::MethodOptions method = method_in_question();
    if (!emit_.empty())
      mapping::emission_named(emit_);  // check the name before anything takes time
    const bool has_matrix = !matrix_.empty() || !pattern_.empty();
    check_input();
    if (!has_matrix && dry_run_) {
      report_corpus(nullptr, context.console);
      return ExitCode::fine;
    }
    const bool is_named = !settings::find(context.settings, "machine").value.empty();
    const machine::Discovery here = machine::discover_this_machine();
    const SelectedMachine machine = machine_in_question(context, here.topology);
    if (!has_matrix) {
      report_corpus(&machine.loaded.machine, context.console);
      return ExitCode::fine;
    }
    const mapping::CommMatrix matrix = matrix_in_question();
    const Hosts hosts = hosts_of(matrix);
    const machine::CostModel model(machine.loaded.machine);
    PlacementConstraints constraints = given_constraints();
    SlotOptions question{.elements = matrix.size(),
                         .nodes = nodes_in_question(hosts),
                         .named = constraints.fixed,
                         .packs = packs_,
                         .least_on_a_node = most_on_a_host(hosts)};
    question.named.insert(question.named.end(), constraints.present.begin(),
                          constraints.present.end());
    if (question.nodes == 0 && !is_named) question.nodes = 1;
    if (!allowed_.empty()) {
      question.allowed = allowed_processors();
    } else if (machine.is_here() && !is_named) {
      question.allowed = here.allowed;
    }
    const mapping::SlotTree chosen = slot_tree(model, question);
    const bool is_where_it_ran = static_cast<int>(hosts.names.size()) == chosen.nodes();
    if (is_where_it_ran) constraints.nodes = hosts.of_element;
    const bool weighs_memory =
        matrix.memory && !packs_ && !mapping::contended_levels(model.machine()).empty();
    const mapping::SlotTree tree =
        weighs_memory ? all_slots(model, question, chosen.nodes()) : chosen;
    if (weighs_memory) constraints.present = present_in(matrix.graph, chosen, constraints);
    mapping::MappingProblem problem = problem_of(matrix.graph, tree, constraints);
    problem.lines_per_byte = 1.0 / model.machine().line_bytes;
    std::optional<mapping::MemoryTimes> memory;
    if (weighs_memory) {
      problem.memory = &memory.emplace(model, tree, *matrix.memory, problem.present);
    }
    MapReport subject{pattern_.empty() ? matrix_ : pattern_,
                      matrix,
                      problem,
                      quality_of(problem, problem.present),
                      picture::machine_title(machine.loaded.machine),
                      notes(matrix, machine, model, tree),
                      least_gain_percent_ / 100.0,
                      host_names(is_where_it_ran ? hosts.names : std::vector<std::string>{}, tree),
                      bandwidth_of(problem, model, question)};
    if ((compare_ || weighs_memory) && finding_of(subject) != mapping::Finding::sufficient) {
      subject.notes.push_back(evidence_text(subject));
    }
    if (!weighs_memory) subject.notes.push_back(memory_note(matrix));
    if (compare_) {
      report_all(subject, model, context.console);
    } else {
      report(subject, method, model, context.console);
    }
    return ExitCode::fine;
  }

 private:
  void check_input() const {
    if (!pattern_.empty() && !matrix_.empty()) {
      throw UsageError("--pattern replaces the communication matrix; give only one of them");
    }
    if (!pattern_.empty() && ranks_ == 0) {
      throw UsageError(fmt::format(
          "--pattern requires the number of ranks, for example: huddle map --pattern {} -n 64",
          printable(pattern_)));
    }
    if (pattern_.empty() && ranks_ != 0) throw UsageError("-n requires --pattern");
    if (matrix_.empty() && pattern_.empty() && !compare_) {
      throw UsageError(
          "a communication matrix is required: record one with 'huddle profile mpirun ...', which "
          "writes huddle-comm.json, or name a pattern, for example: huddle map --pattern halo2d "
          "-n 64");
    }
  }

  mapping::CommMatrix matrix_in_question() const {
    if (pattern_.empty()) {
      return mapping::read_matrix(matrix_, {rows_named(rows_), phase_, collectives_});
    }
    mapping::CommMatrix matrix;
    matrix.kind = mapping::Kind::ranks;
    matrix.graph = mapping::graph_of(mapping::pattern_named(pattern_), ranks_,
                                     static_cast<std::uint64_t>(seed_));
    matrix.notes.emplace_back(
        "assumes equal messages; 'huddle profile' records those of a program");
    return matrix;
  }

  mapping::MethodOptions method_in_question() const {
    const mapping::MethodOptions options{
        method_.empty() ? mapping::Method::tree : mapping::method_named(method_), as_printed_};
    if (as_printed_ && options.method != mapping::Method::lh) {
      throw UsageError("--as-published requires --method lh");
    }
    return options;
  }

  PlacementConstraints given_constraints() const {
    PlacementConstraints constraints;
    if (!fixed_.empty()) constraints.fixed = mapping::parse_assignments(fixed_);
    if (!present_.empty()) constraints.present = mapping::read_assignments(present_);
    constraints.seed = static_cast<std::uint64_t>(seed_);
    return constraints;
  }

  static int most_on_a_host(const Hosts& hosts) {
    std::vector<int> elements(hosts.names.size(), 0);
    for (const int host : hosts.of_element) ++elements[static_cast<std::size_t>(host)];
    return elements.empty() ? 0 : *std::max_element(elements.begin(), elements.end());
  }

  // Returns the value of --nodes, else the number of hosts in the profile.
  int nodes_in_question(const Hosts& hosts) const {
    return nodes_ > 0 ? nodes_ : static_cast<int>(hosts.names.size());
  }

  // Returns the host of each node from --hosts or from the profile.
  std::vector<std::string> host_names(const std::vector<std::string>& profiled,
                                      const mapping::SlotTree& tree) const {
    std::vector<std::string> names = hosts_.empty() ? profiled : split_hosts(hosts_);
    const int hosts = static_cast<int>(names.size());
    if (hosts > 0 && hosts != tree.nodes()) {
      throw UsageError(fmt::format("--hosts contains {}, but there are {}", counted(hosts, "node"),
                                   tree.nodes()));
    }
    return names;
  }

  machine::CpuSet allowed_processors() const {
    try {
      return machine::CpuSet::parse(allowed_);
    } catch (const InputError& error) {
      throw UsageError(fmt::format("--cpus: {}", error.what()));
    }
  }

  // Returns the reason why the time to wait for memory is not predicted.
  std::string memory_note(const mapping::CommMatrix& matrix) const {
    if (!matrix.memory) {
      return "the matrix does not contain the memory traffic of each rank or thread, so only the "
             "time of communication is predicted";
    }
    if (packs_) return "--pack ignores the time to wait for memory";
    return "the machine file contains no copy times of several cores, so the time to wait for "
           "memory is not predicted";
  }

  static std::vector<std::string> notes(const mapping::CommMatrix& matrix,
                                        const SelectedMachine& machine,
                                        const machine::CostModel& model,
                                        const mapping::SlotTree& tree) {
    std::vector<std::string> all = matrix.notes;
    all.insert(all.end(), matrix.unobserved.begin(), matrix.unobserved.end());
    if (matrix.kind == mapping::Kind::threads && !matrix.events) {
      all.emplace_back(
          "this profile does not contain its numbers of events, so whether they suffice cannot be "
          "checked; profile the program again");
    }
    if (!calibrated(machine.loaded.machine)) {
      all.emplace_back(
          "this machine has not been measured: its latencies are published, estimated or generic "
          "figures");
    }
    if (tree.nodes() > 1 && model.machine().networks.empty()) {
      all.push_back(
          fmt::format("the machine file has no network: a latency of {} between nodes is assumed",
                      time_text(usual_network_ns)));
    }
    return all;
  }

  void report(const MapReport& subject, const mapping::MethodOptions& method,
              const machine::CostModel& model, const Console& console) const {
    MethodResult placed =
        can_place(subject)
            ? place_by(subject.problem, method)
            : left_alone(subject.problem, method, "not run, because there are too few events");
    placed.memory_gb_per_s = memory_gb_per_s(model, subject.problem.tree, placed.mapped.mapping);
    if (json_) {
      console.print(map_json(subject, placed));
    } else if (!emit_.empty()) {
      console.print(emitted(subject, placed, model, console));
    } else {
      console.print(map_text(subject, placed, console));
    }
  }

  // Writes the present placement if the new one is not recommended.
  std::string emitted(const MapReport& subject, const MethodResult& placed,
                      const machine::CostModel& model, const Console& console) const {
    const MapDecision verdict = decision_for(subject, placed);
    if (!verdict.moves) {
      console.note(fmt::format("this is the current placement; {}", verdict.text));
    }
    const std::string warning = bandwidth_warning(subject, placed);
    if (verdict.moves && !warning.empty()) console.note(warning);
    const mapping::SlotTree& tree = subject.problem.tree;
    mapping::EmittedPlacement seating{{}, tree.nodes(), subject.hosts, logical_numbers(model)};
    const mapping::MappingProblem& problem = subject.problem;
    const mapping::Mapping mapping =
        verdict.moves ? in_order_within(problem, placed.mapped.mapping) : problem.present;
    for (const int slot : mapping) {
      seating.seats.push_back(tree.slots()[static_cast<std::size_t>(slot)]);
    }
    return mapping::emit(mapping::emission_named(emit_), seating);
  }

  // Returns for each hardware thread its position in the order of the whole tree.
  static std::vector<int> logical_numbers(const machine::CostModel& model) {
    const mapping::SlotTree whole(model, {model.machine().topology.pus.cpus(), 1, 0});
    std::vector<int> numbers;
    for (int logical = 0; logical < whole.size(); ++logical) {
      const auto pu = static_cast<std::size_t>(whole.slots()[static_cast<std::size_t>(logical)].pu);
      if (pu >= numbers.size()) numbers.resize(pu + 1, 0);
      numbers[pu] = logical;
    }
    return numbers;
  }

  void report_corpus(const machine::Machine* machine, const Console& console) const {
    if (json_) {
      console.print(map_corpus_json(machine));
    } else {
      print_map_corpus(machine, console);
    }
  }

  void report_all(const MapReport& subject, const machine::CostModel& model,
                  const Console& console) const {
    std::vector<MethodResult> all = {left_alone(subject.problem, {}, "current placement")};
    all.front().method = "current";
    all.front().memory_gb_per_s = subject.bandwidth.before;
    for (std::size_t m = 0; m < mapping::method_names.size(); ++m) {
      const auto method = static_cast<mapping::Method>(m);
      if (method == mapping::Method::exact &&
          !mapping::count_placements(subject.problem, most_to_compare)) {
        continue;
      }
      all.push_back(place_by(subject.problem, {method, false}));
      all.back().memory_gb_per_s =
          memory_gb_per_s(model, subject.problem.tree, all.back().mapped.mapping);
    }
    console.print(json_ ? map_compare_json(subject, all) : map_compare_text(subject, all, console));
  }

  std::string matrix_, pattern_, allowed_, method_, rows_, fixed_, present_, emit_, hosts_, phase_;
  int ranks_ = 0;  // of the pattern
  int nodes_ = 0;
  int least_gain_percent_ = 3;
  int seed_ = 1;
  bool list_machines_ = false;
  bool packs_ = false, collectives_ = false, as_printed_ = false, compare_ = false,
       dry_run_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_map_command() { return std::make_unique<MapCommand>(); }

}  // namespace huddle::cli

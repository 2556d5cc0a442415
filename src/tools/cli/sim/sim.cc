// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle sim`: simulates a collective inside a node, or between nodes on a fabric.

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "common/other_processes.h"
#include "common/text.h"
#include "runtime/schedules/algorithms.h"
#include "simulate/network/question.h"
#include "tools/cli/command.h"
#include "tools/cli/machine_list.h"
#include "tools/cli/net_options.h"
#include "tools/cli/node_choice.h"
#include "tools/cli/progress.h"
#include "tools/cli/sim/sim_report.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

std::string question(const Simulated& simulated) {
  return fmt::format("{}{} among {} of {} nodes, placed {}", simulated.operation,
                     simulated.moves ? " of " + size_text(simulated.bytes) : "", simulated.ranks,
                     simulated.cluster.fabric.nodes(), simulated.placement);
}

std::string ground(const fabric::Cluster& cluster, int columns) {
  std::string text = wrap("",
                          printable(fmt::format("{}: {}", cluster.fabric.name,
                                                cluster.fabric.method.empty()
                                                    ? "no information on the source of its figures"
                                                    : cluster.fabric.method)),
                          2, columns);
  text += wrap("", printable("nodes: " + cluster.machine.name + ", " + cluster.network.name), 2,
               columns);
  for (const std::string& doubt : cluster.fabric.doubts) text += wrap("", doubt, 2, columns);
  return text;
}

std::string percent_of(double whole, double part) { return percent(whole > 0 ? part / whole : 0); }

// Returns the two causes that took most of the time.
std::string causes(const network::Clock& end) {
  std::array<std::size_t, network::cause_names.size()> order;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&end](std::size_t a, std::size_t b) {
    return end.by_cause[a] > end.by_cause[b];
  });
  std::string text;
  for (const std::size_t cause : {order[0], order[1]}) {
    if (end.by_cause[cause] <= 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", network::cause_names[cause],
                        percent_of(end.ns, end.by_cause[cause]));
  }
  return text;
}

std::string conclusion(const std::string& fastest, int columns) {
  return wrap("",
              fmt::format("Fastest: {0}. 'huddle run --net-algo {0}' runs it, if collectives "
                          "between nodes are on ('huddle config net').",
                          fastest),
              2, columns);
}

std::string all_of_them(const Simulated& simulated, int columns) {
  const bool judged = !simulated.judge.empty();
  Table::Row heading = {"algorithm", "time", "ratio", "rounds", "busiest link", "spent on"};
  if (judged) heading.insert(heading.begin() + 3, simulated.judge);
  Table table(heading, {});
  for (const SimulatedRow& row : simulated.rows) {
    const network::Outcome& outcome = row.outcome;
    // The operation is in the table's heading.
    Table::Row cells = {
        row.algorithm.substr(row.algorithm.find(':') + 1),
        time_text(outcome.end.ns),
        fmt::format("{:.2f}", outcome.end.ns / simulated.rows.front().outcome.end.ns),
        fmt::format("{}", outcome.rounds),
        size_text(outcome.fullest_link_bytes),
        causes(outcome.end)};
    if (judged) cells.insert(cells.begin() + 3, row.judge_ns ? time_text(*row.judge_ns) : "-");
    table.add(cells);
  }
  return table.text(columns) + "\n" + conclusion(simulated.rows.front().algorithm, columns);
}

std::string one_of_them(const Simulated& simulated, int columns) {
  const SimulatedRow& row = simulated.rows.front();
  const network::Outcome& outcome = row.outcome;
  std::string text = fmt::format("{}: {} in {}\n", row.algorithm, time_text(outcome.end.ns),
                                 counted(outcome.rounds, "round"));
  if (row.judge_ns) {
    text += fmt::format("{}: {} ({:+.1f} %)\n", simulated.judge, time_text(*row.judge_ns),
                        100 * (*row.judge_ns / outcome.end.ns - 1));
  }
  if (!outcome.fullest_link.empty()) {
    text += wrap("",
                 fmt::format("busiest link: {}, {}", printable(outcome.fullest_link),
                             size_text(outcome.fullest_link_bytes)),
                 2, columns);
  }
  Table time({"time is spent on", "time", "share"}, {2, 24});
  for (std::size_t cause = 0; cause < network::cause_names.size(); ++cause) {
    const double ns = outcome.end.by_cause[cause];
    time.add(
        {std::string(network::cause_names[cause]), time_text(ns), percent_of(outcome.end.ns, ns)});
  }
  Table levels({"highest switch", "messages", "share", "bytes", "share"}, {2, 24});
  for (std::size_t height = 0; height < outcome.by_height.size(); ++height) {
    const network::LevelTraffic& level = outcome.by_height[height];
    levels.add({height == 0 ? std::string("leaf") : fmt::format("leaf + {}", height),
                fmt::format("{}", level.messages), percent_of(outcome.messages, level.messages),
                size_text(level.bytes), percent_of(outcome.bytes, level.bytes)});
  }
  return text + "\n" + time.text(columns) + "\n" + levels.text(columns);
}

}  // namespace

std::string sim_text(const Simulated& simulated, const Console& console) {
  const int columns = std::min(console.columns, most_report_columns);
  std::string text = wrap("", question(simulated), 2, columns) + ground(simulated.cluster, columns);
  return text + "\n" +
         (simulated.rows.size() == 1 ? one_of_them(simulated, columns)
                                     : all_of_them(simulated, columns));
}

namespace {

constexpr const char* judge_program = "huddle-judge-simgrid";
constexpr std::chrono::hours judge_patience{12};

// Returns whether SIZE is one block. Otherwise it is the whole data of one rank.
bool size_is_a_block(schedules::Operation operation) {
  switch (operation) {
    case schedules::Operation::allgather:
    case schedules::Operation::alltoall:
    case schedules::Operation::gather:
    case schedules::Operation::scatter:
      return true;
    case schedules::Operation::bcast:
    case schedules::Operation::barrier:
    case schedules::Operation::allreduce:
    case schedules::Operation::reduce:
    case schedules::Operation::reduce_scatter:
    case schedules::Operation::scan:
    case schedules::Operation::exscan:
      return false;
  }
  return false;
}

class SimCommand : public Command {
 public:
  std::string name() const override { return "sim"; }
  std::string summary() const override {
    return "simulate a collective inside a node or between nodes";
  }
  std::string description() const override {
    return "Without --fabric: simulates the algorithm that 'huddle explain' selects inside a node, "
           "on a model of the machine, and shows how long each rank takes, how far cache lines "
           "travel, and which resources are busy. With --fabric: simulates the algorithms of a "
           "collective between nodes, with one rank per node: how long each takes and what the "
           "time is spent on, how many rounds it has, and how much the busiest link carries. Both "
           "work for any machine and fabric that a file describes. SIZE is the amount of data of "
           "one rank, or of one block of an allgather, alltoall, gather or scatter, such as 64, 8K "
           "or 1.5M.";
  }
  std::string examples() const override {
    return "  huddle sim allreduce 4M -n 64 --machine epyc-2x64-estimate\n"
           "  huddle sim bcast 64K -n 16 --algorithm segmented --trace bcast.json\n"
           "  huddle sim --compare-predictions --machine songshan\n"
           "  huddle sim --fabric dragonfly allgather 8K -n 256\n"
           "  huddle sim --fabric fat-tree-2to1 allgather:ring 120K -n 1024 \\\n"
           "             --placement random:1\n"
           "  huddle sim --list-fabrics\n"
           "  huddle sim --fabric /etc/slurm/topology.conf --machine FILE allgather 64K\n"
           "  huddle sim --fabric FILE allgather 8 --json | jq '.algorithms[0].algorithm'\n\n"
           "A fabric is a TOML file of huddle or the topology.conf of Slurm: the path of a file, - "
           "for standard input, or a name from --list-fabrics. docs/model.md and "
           "docs/design/simulation-and-paper-comparison.md describe what the simulators model and "
           "what they leave out.";
  }

  void declare(Options& options) override {
    options.positional("OPERATION", operation_, "a collective, or one of its algorithms");
    options.complete("OPERATION", Value::word, algorithm_words());
    options.positional("SIZE", size_, "bytes, such as 64, 8K or 1.5M; not for a barrier");
    fabric_.declare(options);
    options.number("-n,--ranks", ranks_, 1, fabric::most_nodes, "N",
                   "number of ranks (default: one per core, or with --fabric one per node)");
    call_.declare(options);
    options.text("--reference", judge_, "SIMULATOR",
                 "also simulate with SimGrid, which is slow: simgrid; simgrid-in-order, in which "
                 "network cards send the rounds one after the other; smpi, with the algorithms of "
                 "SimGrid's own MPI");
    options.complete("--reference", Value::word,
                     {network::judge_names.begin(), network::judge_names.end()});
    node_.declare(options);
    for (const char* const between_nodes :
         {"--placement", "--radix", "--segments", "--message-blocks", "--reference"}) {
      options.need(between_nodes, "--fabric");
    }
    options.flag("--list-machines", list_machines_,
                 "list the machines that --machine accepts by name");
    options.flag("--list-fabrics", list_fabrics_, "list the fabrics that --fabric accepts by name");
    options.flag("--json", json_, "print everything as JSON");
  }

  ExitCode run(const Context& context) override {
    if (list_machines_ || list_fabrics_) return print_lists(context.console);
    if (!fabric_.given()) {
      node_.run(context, {operation_, size_, ranks_, call_.root(), json_});
      return ExitCode::fine;
    }
    check_words();
    Simulated simulated;
    const std::vector<schedules::Algorithm> algorithms = algorithms_from(operation_);
    if (algorithms.empty()) {
      throw UsageError(fmt::format("huddle has no algorithm of {} between nodes", operation_));
    }
    const schedules::Operation operation = algorithms.front().operation;
    simulated.operation = schedules::name(operation);
    simulated.moves = operation != schedules::Operation::barrier;
    simulated.bytes = bytes_of(operation);
    simulated.placement = fabric_.placement();
    simulated.judge = judge_;
    simulated.cluster = fabric_.cluster(context);
    simulated.ranks = ranks_ > 0 ? ranks_ : simulated.cluster.fabric.nodes();
    const std::vector<int> nodes = fabric_.nodes(simulated.cluster, simulated.ranks);
    std::optional<Progress> progress;  // most simulations take a few moments: a bar, no lines
    if (context.console.progress) progress.emplace(context.console, algorithms.size());
    for (const schedules::Algorithm& algorithm : algorithms) {
      if (progress) progress->begin_step(algorithm.full_name());
      simulated.rows.push_back(row_of(algorithm, simulated, nodes, context));
    }
    if (progress) progress->finish();
    std::stable_sort(simulated.rows.begin(), simulated.rows.end(),
                     [](const SimulatedRow& a, const SimulatedRow& b) {
                       return a.outcome.end.ns < b.outcome.end.ns;
                     });
    context.console.print(json_ ? sim_json(simulated) : sim_text(simulated, context.console));
    return ExitCode::fine;
  }

 private:
  void check_words() const {
    if (operation_.empty()) {
      throw UsageError(
          "the collective to simulate is missing, for example: huddle sim --fabric dragonfly "
          "allgather 8K");
    }
    if (!judge_.empty() && !network::judge_named(judge_)) {
      throw UsageError(fmt::format("--reference must be one of {1}, not '{0}'", judge_,
                                   fmt::join(network::judge_names, ", ")));
    }
    if (!judge_.empty() && fabric_.is_standard_input()) {
      throw UsageError(
          "--reference requires a fabric in a file, because another program also reads it");
    }
  }

  ExitCode print_lists(const Console& console) const {
    if (list_machines_) {
      console.print(json_ ? machine_list_json(list_machines(), name())
                          : machine_list_text(list_machines(), console.columns));
    } else {
      console.print(json_ ? fabric_list_json(list_fabrics())
                          : fabric_list_text(list_fabrics(), console.columns));
    }
    return ExitCode::fine;
  }

  SimulatedRow row_of(const schedules::Algorithm& algorithm, const Simulated& simulated,
                      const std::vector<int>& nodes, const Context& context) const {
    const schedules::Call call = call_.call(simulated.ranks);
    const auto schedule = schedules::make_schedule(algorithm, call);
    double block_bytes = simulated.bytes;
    if (!size_is_a_block(algorithm.operation)) {
      block_bytes /= static_cast<double>(std::max<std::int64_t>(1, schedule->blocks()));
    }
    SimulatedRow row{algorithm.full_name(),
                     network::simulate(simulated.cluster, nodes, *schedule, block_bytes),
                     {}};
    const auto judge = network::judge_named(judge_);
    const bool unknown =
        judge == network::Judge::smpi && network::smpi_algorithm(row.algorithm).empty();
    if (judge && !unknown) {
      const PlacementChoice choice = fabric_.placement_choice();
      row.judge_ns = judged_ns({*judge, fabric_.file(), FabricOptions::machine(context),
                                row.algorithm, call, block_bytes, choice.placement, choice.seed});
    }
    return row;
  }

  double bytes_of(schedules::Operation operation) const {
    const std::string ask =
        fmt::format("the size of {0} is missing, for example: huddle sim --fabric {1} {0} 8K",
                    operation_, fabric_.file());
    return static_cast<double>(size_given(operation == schedules::Operation::barrier, size_, ask));
  }

  static double judged_ns(const network::Question& question) {
    const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
    const std::string program = (own.parent_path() / judge_program).string();
    if (!std::filesystem::exists(program)) {
      throw FailureError(fmt::format(
          "{} is missing: install SimGrid (Debian: libsimgrid-dev) and build huddle again",
          program));
    }
    std::vector<std::string> words = {program};
    for (std::string& word : network::words_of(question)) words.push_back(std::move(word));
    const auto output = run_program(words, judge_patience);
    const std::string text = output ? output->text : "";
    double ns = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (error != std::errc() || stop == text.data()) {
      throw FailureError(fmt::format("{} failed: {}", program, printable(text)));
    }
    return ns;
  }

  std::string operation_, size_, judge_;
  FabricOptions fabric_;
  NodeSim node_;
  NetCallOptions call_;
  int ranks_ = 0;
  bool list_machines_ = false;
  bool list_fabrics_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sim_command() { return std::make_unique<SimCommand>(); }

}  // namespace huddle::cli

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// `huddle explain`: what a collective would do on a machine, and why, without any team.
#include "select/explain.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/explain_report.h"
#include "cli/machine_in_question.h"
#include "machine/discover.h"
#include "node/seats.h"
#include "select/provision.h"

namespace huddle::cli {
namespace {

// More than any machine with one memory has; trees of more take minutes.
constexpr int most_ranks = 4096;

select::Operation operation_named(const std::string& word) {
  if (word.empty()) {
    throw UsageError("explain what? One of: " +
                     fmt::format("{}", fmt::join(select::operation_names, ", ")));
  }
  for (const select::Operation operation : select::operations) {
    if (name(operation) == word) return operation;
  }
  const std::vector<std::string> names(select::operation_names.begin(),
                                       select::operation_names.end());
  const std::string guess = did_you_mean(word, names);
  throw UsageError(
      fmt::format("there is no operation '{}'{}", word,
                  guess.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : guess));
}

select::Request request_of(const std::string& operation_word, const std::string& size_word) {
  const select::Operation operation = operation_named(operation_word);
  if (operation == select::Operation::barrier) {
    if (size_word.empty()) return {operation, 0, 1};
    throw UsageError("a barrier moves nothing: leave SIZE out");
  }
  if (size_word.empty()) {
    throw UsageError(fmt::format("{} of how much? Say it: huddle explain {} 64K", operation_word,
                                 operation_word));
  }
  const auto bytes = size_from(size_word);
  if (!bytes) {
    throw UsageError(fmt::format("'{}' is no size; sizes are written 64, 8K or 1.5M", size_word));
  }
  return {operation, *bytes, 1};
}

// Rank r on the first hardware thread of core r; beyond the last core, from the first again.
std::vector<int> processors_for(int ranks, const machine::Topology& topology) {
  const std::vector<int> cores = first_pu_of_cores(topology);
  std::vector<int> processors;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    processors.push_back(cores[rank % cores.size()]);
  }
  return processors;
}

class ExplainCommand : public Command {
 public:
  std::string name() const override { return "explain"; }
  std::string summary() const override { return "what a collective would do here, and why"; }
  std::string description() const override {
    return "Shows which algorithm a collective would run, which others could, and what each is "
           "predicted to cost: all from the machine model, so it works for a machine that is not "
           "here. OPERATION is a collective of MPI, in small letters; SIZE is what one rank has, "
           "of "
           "an exchange one block of it, as in 64, 8K or 1.5M. Ranks sit on cores in their order, "
           "one on each, on its first "
           "hardware thread.";
  }
  std::string examples() const override {
    return "  huddle explain allreduce 64K        one rank on every core of this machine\n"
           "  huddle explain barrier -n 16        on the first 16 cores\n"
           "  huddle explain bcast 4M -n 32 --machine machines/songshan.toml\n"
           "  huddle explain reduce 8 --all       everything that could run\n"
           "  huddle explain bcast 1K --json | jq .chosen\n"
           "\n"
           "A time counts from the first rank's call until the last one returns, while all have a "
           "core of their own and nobody else uses the machine.";
  }

  void declare(Options& options) override {
    options.positional("OPERATION", operation_,
                       fmt::format("{}", fmt::join(select::operation_names, ", ")));
    options.complete("OPERATION", Value::word,
                     {select::operation_names.begin(), select::operation_names.end()});
    options.positional("SIZE", size_, "bytes of one rank: 64, 8K, 1.5M; not for a barrier");
    options.number("-n,--ranks", ranks_, 1, most_ranks, "RANKS", "how many; else one a core");
    options.setting("machine");
    options.flag("--all", all_, "show every candidate, not the ten cheapest");
    options.flag("--json", json_, "print everything as JSON");
  }

  ExitCode run(const Context& context) override {
    const select::Request request = request_of(operation_, size_);
    const MachineInQuestion in_question =
        machine_in_question(context, machine::discover_this_machine().topology);
    const machine::Machine& machine = in_question.loaded.machine;
    const machine::Topology& topology = machine.topology;
    const int ranks = ranks_ > 0 ? ranks_ : core_count(topology);
    const node::Seats seats = node::seats(topology, processors_for(ranks, topology));
    const machine::CostModel model(machine);
    const Explained explained{
        select::explain(request, seats, model,
                        select::provision(seats, model, select::usual_queue_bytes)),
        seats.pus,
        {machine, std::nullopt, in_question.loaded.path, in_question.is_here()}};
    const Console& console = context.console;
    console.print(json_ ? explain_json(explained) : explain_text(explained, all_, console));
    return ExitCode::fine;
  }

 private:
  std::string operation_, size_;
  int ranks_ = 0;
  bool all_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace huddle::cli

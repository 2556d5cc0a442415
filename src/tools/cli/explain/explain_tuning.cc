// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/explain/explain_tuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/text.h"
#include "model/machine/cost.h"
#include "runtime/node/locality.h"
#include "runtime/select/candidate.h"
#include "runtime/select/explain.h"
#include "runtime/select/operation.h"
#include "tools/cli/node_choice.h"
#include "tools/cli/terminal_text.h"
#include "tools/picture/facts.h"

namespace huddle::cli {
namespace {

using team::Implementation;

// The first choices of the teams of a file. Most results have one of a few sets of CPUs.
class FirstChoices {
 public:
  // Keeps references. `is_here`: the model describes this machine, whose permissions matter.
  FirstChoices(const Context& context, const machine::CostModel& model, bool is_here)
      : context_(context), model_(model), is_here_(is_here) {}

  std::optional<ExplainedTuning::FirstChoice> of(const mpi::StoredTuning& stored) {
    const select::Operation operation = stored.key.tuned_class.operation;
    if (select::has_pairwise_sizes(operation) || !are_known(stored.key.cpus)) return std::nullopt;
    const select::Request request{
        .operation = operation,
        .bytes = has_common_size(operation) ? stored.key.tuned_class.most_bytes : 0,
        .element_bytes = select::reduces(operation) ? sizeof(double) : 1};
    const node::RankLocality locality = node::locality(model_.machine().topology, stored.key.cpus);
    const select::Explanation explanation =
        explanation_of(request, locality, model_, team_of(stored, locality));
    if (explanation.candidates.empty()) return std::nullopt;
    const select::Candidate& chosen = select::chosen(explanation);
    return ExplainedTuning::FirstChoice{select::algorithm_name(chosen.plan), chosen.ns};
  }

 private:
  bool are_known(const std::vector<int>& cpus) const {
    const machine::CpuSet& pus = model_.machine().topology.pus;
    return cpus.size() > 1 &&
           std::all_of(cpus.begin(), cpus.end(), [&](int cpu) { return pus.contains(cpu); });
  }
  // The heap is that of the run, not the one of this command's settings.
  const NodeTeam& team_of(const mpi::StoredTuning& stored, const node::RankLocality& locality) {
    const bool has_heap = stored.conditions.has_heap;
    const auto [at, is_new] = teams_.try_emplace({stored.key.cpus, has_heap});
    if (is_new) {
      at->second = node_team(context_, locality, model_, is_here_);
      at->second.has_heap = has_heap;
      at->second.resources.heap_refusal = has_heap ? "" : "the run had no shared heap";
      at->second.resources.forcing = {};
    }
    return at->second;
  }

  const Context& context_;
  const machine::CostModel& model_;
  bool is_here_;
  std::map<std::pair<std::vector<int>, bool>, NodeTeam> teams_;
};

}  // namespace

TuningExplained tuning_explained(const Context& context, const picture::Subject& subject,
                                 const std::string& file) {
  TuningExplained explained{file, subject, {}, {}};
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    throw InputError(fmt::format(
        "{} does not exist; a program that runs with HUDDLE_TUNE=FILE.json writes such a file at "
        "its end",
        file));
  }
  const machine::CostModel model(subject.machine);
  FirstChoices first_choices(context, model, subject.allowed.has_value());
  std::set<std::string> others;
  for (mpi::StoredTuning& stored : mpi::stored_tunings(file)) {
    if (stored.conditions.machine != subject.machine.name) {
      others.insert(stored.conditions.machine);
      continue;
    }
    const auto predicted = first_choices.of(stored);
    explained.rows.push_back({std::move(stored), predicted});
  }
  std::stable_sort(explained.rows.begin(), explained.rows.end(),
                   [](const ExplainedTuning& a, const ExplainedTuning& b) {
                     return a.stored.key.tuned_class < b.stored.key.tuned_class;
                   });
  explained.other_machines.assign(others.begin(), others.end());
  return explained;
}

namespace {

// Returns for example "allreduce up to 4K, only huddle": the bits of the result depend on the order
// of the reduction, so the MPI does not take part in trials.
std::string call_text(const team::TunedClass& of) {
  std::string text(name(of.operation));
  if (has_common_size(of.operation))
    text += fmt::format(" up to {}", size_text(static_cast<double>(of.most_bytes)));
  return of.may_run_outside ? text : text + ", only huddle";
}

// Returns for example "MPI", or "segmented, pieces of 4K, rep_movsb".
std::string runner_text(const team::TuningRecord& record) {
  if (record.kept == Implementation::outside) return "MPI";
  std::string text(record.plan.algorithm);
  if (record.plan.piece_bytes > 0)
    text += fmt::format(", pieces of {}", size_text(static_cast<double>(record.plan.piece_bytes)));
  if (record.plan.copy_method) text += fmt::format(", {}", name(*record.plan.copy_method));
  return text;
}

std::string first_choice_text(const ExplainedTuning& row) {
  if (!row.predicted) return "-";
  return fmt::format("{} {}", row.predicted->algorithm, time_text(row.predicted->ns));
}

// Returns the CPUs by rank: "0-3", or "2,0" if they do not ascend.
std::string cpus_text(const std::vector<int>& cpus) {
  const bool do_ascend = std::is_sorted(cpus.begin(), cpus.end(), std::less_equal<>());
  return do_ascend ? machine::CpuSet(cpus).text() : fmt::format("{}", fmt::join(cpus, ","));
}

// Rows with equal conditions and CPUs, which are stated above their table.
std::string heading_of(const mpi::StoredTuning& stored) {
  return fmt::format("{}, {} ranks on CPUs {}{}", printable(stored.conditions.mpi),
                     stored.key.cpus.size(), cpus_text(stored.key.cpus),
                     stored.conditions.has_heap ? ", with the shared heap" : "");
}

}  // namespace

std::string explain_tuning_text(const TuningExplained& explained, const Console& console) {
  const int columns = std::min(console.columns, most_table_columns);
  std::string text = wrap("",
                          printable(picture::machine_title(explained.subject.machine)) + ", " +
                              printable(picture::calibration_line(explained.subject)),
                          2, columns);
  std::vector<std::pair<std::string, Table>> tables;
  for (const ExplainedTuning& row : explained.rows) {
    const std::string heading = heading_of(row.stored);
    auto table = std::find_if(tables.begin(), tables.end(),
                              [&](const auto& one) { return one.first == heading; });
    if (table == tables.end()) {
      table = tables.insert(
          tables.end(),
          {heading, Table({"calls, and what runs them", "measured", "first choice"}, {})});
    }
    const team::TuningRecord& record = row.stored.record;
    table->second.add({call_text(row.stored.key.tuned_class) + ": " + runner_text(record),
                       time_text(record.median_ns), first_choice_text(row)});
  }
  for (const auto& [heading, table] : tables)
    text += '\n' + wrap("", heading, 2, columns) + table.text(columns);
  if (explained.rows.empty()) {
    text +=
        wrap("", fmt::format("{} contains no results of this machine.", printable(explained.file)),
             0, columns);
  } else {
    text += '\n' + wrap("",
                        "measured: median time of a call in the latest trial, without waiting for "
                        "late ranks; first choice: algorithm and time by prediction, for the "
                        "largest size of the class.",
                        0, columns);
  }
  if (!explained.other_machines.empty()) {
    text +=
        wrap("",
             fmt::format("{} contains results of {}; show them with --machine NAME.",
                         printable(explained.file),
                         printable(fmt::format("{}", fmt::join(explained.other_machines, ", ")))),
             0, columns);
  }
  return text;
}

}  // namespace huddle::cli

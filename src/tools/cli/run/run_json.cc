// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>

#include "common/arithmetic.h"
#include "tools/cli/document_json.h"
#include "tools/cli/run/run_compare.h"

namespace huddle::cli {
namespace {

Json side_json(const bench::SideRuns& side) {
  return {{"argv", side.command.words},
          {"wall_seconds", side.wall_seconds},
          {"cpu_seconds", side.cpu_seconds}};
}

Json start_up_json(const StartUp& start_up) {
  const bench::Estimate added = start_up.added();
  return {{"program", start_up.with_mpi ? "begins and ends MPI" : "does nothing"},
          {"native_seconds", start_up.of(bench::Side::native)},
          {"huddle_seconds", start_up.of(bench::Side::huddle)},
          {"added_seconds",
           {{"median", added.ratio},
            {"low", added.low},
            {"high", added.high},
            {"confidence", bench::confidence},
            {"enough_runs", added.sure}}}};
}

Json collectives_json(const CollectiveShares& shares) {
  return {{"native_share", median_of(shares.of(bench::Side::native))},
          {"huddle_share", median_of(shares.of(bench::Side::huddle))},
          {"native_shares", shares.of(bench::Side::native)},
          {"huddle_shares", shares.of(bench::Side::huddle)}};
}

Json load_json(const bench::MachineLoad& load, bool knows_its_processes) {
  return {{"hardware_threads", load.pus},
          {"used_by_others", knows_its_processes ? Json(load.others) : Json(nullptr)},
          {"stolen", load.stolen},
          {"busy", knows_its_processes ? Json(load.is_busy) : Json(nullptr)}};
}

std::string_view name_of(Conclusion conclusion) {
  switch (conclusion) {
    case Conclusion::faster:
      return "faster";
    case Conclusion::slower:
      return "slower";
    case Conclusion::too_few_runs:
      return "too_few_runs";
    case Conclusion::too_short:
      return "too_short";
  }
  return {};
}

}  // namespace

std::string run_json(const launch::Plan& plan) {
  Json root = json_document(run_json_schema, "run");
  root["program"] = plan.program;
  root["launcher"] = plan.launcher ? Json(plan.launcher->path) : Json(nullptr);
  root["mpi"] = nullptr;
  const auto version = plan.launcher ? launch::version_of(*plan.launcher) : std::nullopt;
  if (version) root["mpi"] = {{"family", version->family}, {"version", version->version}};
  root["argv"] = plan.command;
  root["environment"] = Json::object();
  for (const launch::Variable& change : plan.changes) {
    root["environment"][change.name] = change.value;
  }
  root["notes"] = plan.notes;
  return json_text(root);
}

std::string compared_json(const ComparedRuns& compared) {
  const bench::WholeRuns& runs = compared.runs;
  const bench::Estimate speedup = runs.speedup();
  const RunVerdict verdict = verdict_on(compared);
  const auto load = runs.load();
  const Extras& extras = compared.extras;
  Json root = json_document(run_json_schema, "run --compare");
  root["native"] = side_json(runs.of(bench::Side::native));
  root["huddle"] = side_json(runs.of(bench::Side::huddle));
  root["speedup"] = {{"ratio", speedup.ratio},
                     {"low", speedup.low},
                     {"high", speedup.high},
                     {"confidence", bench::confidence},
                     {"enough_runs", speedup.sure}};
  root["conclusion"] = {{"result", name_of(verdict.conclusion)}, {"text", verdict.sentence}};
  root["start_up"] = extras.start_up ? start_up_json(*extras.start_up) : Json(nullptr);
  root["collectives"] = extras.collectives ? collectives_json(*extras.collectives) : Json(nullptr);
  root["other_load"] = load ? load_json(*load, compared.knows_its_processes) : Json(nullptr);
  root["taken"] = compared.taken;
  root["interrupted"] = runs.interrupted;
  return json_text(root);
}

}  // namespace huddle::cli

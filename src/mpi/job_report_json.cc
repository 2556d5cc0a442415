// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "huddle/huddle.h"
#include "mpi/job_report.h"
#include "runtime/select/explain_json.h"

namespace huddle::mpi {
namespace {

using Json = nlohmann::ordered_json;

Json over_ranks(const OverRanks& quantity) {
  return {{"min", quantity.least}, {"mean", quantity.mean}, {"max", quantity.most}};
}

Json row_json(const JobRow& row) {
  Json json = {{"operation", select::name(row.kind.operation)},
               {"handled", row.kind.why == FallbackReason::none}};
  if (row.kind.why == FallbackReason::none) {
    json["algorithm"] = row.kind.how;
  } else {
    json["fallback_reason"] = reason_text(row.kind.why);
    if (!row.kind.how.empty()) json["fallback_details"] = row.kind.how;
  }
  json["calls"] = row.calls;
  json["bytes_per_call"] = row.bytes_per_call;
  json["seconds"] = over_ranks(row.seconds);
  if (!row.is_divided) return json;
  json["waiting_seconds"] = over_ranks(row.waiting_seconds);
  json["transfer_seconds"] = over_ranks(row.transfer_seconds);
  json["typical_transfer_ns"] = row.typical_ns;
  if (row.predicted_ns) {
    json["predicted_ns"] = *row.predicted_ns;
    json["predicted_saving_seconds"] = row.saving_seconds;
  }
  return json;
}

// Returns the times of the implementations that were tried.
Json trials_json(const Stats::Trials& trials) {
  const team::Tuner::Result& latest = trials.latest;
  Json json = {{"operation", select::name(latest.of.operation)},
               {"most_bytes", latest.of.most_bytes},
               {"trials", trials.count},
               {"kept", implementation_names[static_cast<std::size_t>(latest.record.kept)]}};
  for (std::size_t by = 0; by < implementation_names.size(); ++by) {
    const auto& [median_ns, plan] = latest.tried[by];
    if (median_ns == 0) continue;
    Json& one = json[implementation_names[by]] = {{"transfer_ns", median_ns}};
    select::add_features(one, plan);
  }
  return json;
}

}  // namespace

std::string job_report_json(const JobReport& report, const JobFacts& facts) {
  Json json = {{"schema", 1},
               {"command", "stats"},
               {"huddle", huddle_version()},
               {"off", facts.was_off},
               {"calibrated", report.is_calibrated},
               {"ranks", report.ranks},
               {"run_seconds", report.run_seconds},
               {"seconds", over_ranks(report.seconds)},
               {"waiting_seconds", over_ranks(report.waiting_seconds)},
               {"transfer_seconds", over_ranks(report.transfer_seconds)},
               {"undivided_seconds", report.undivided_seconds()}};
  if (report.late) {
    json["latest_rank"] = {{"rank", report.late->rank},
                           {"share_of_calls", report.late->share},
                           {"late_ns", report.late->late_ns}};
  }
  if (facts.was_off) json["predicted_saving_seconds"] = report.saving_seconds();
  Json& groups = json["communicators"] = Json::array();
  for (const JobGroup& group : report.groups) {
    Json& of_group = groups.emplace_back();
    of_group["ranks"] = group.members;
    Json& rows = of_group["collectives"] = Json::array();
    for (const JobRow& row : group.rows) rows.push_back(row_json(row));
  }
  Json& trials = json["trials"] = Json::array();
  for (const Stats::Trials& one : facts.trials) trials.push_back(trials_json(one));
  Json& others = json["not_handled"] = Json::object();
  for (const auto& [name, calls] : facts.others) others[name] = calls;
  return json.dump(1) + "\n";
}

}  // namespace huddle::mpi

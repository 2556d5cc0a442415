// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <cstddef>
#include <nlohmann/json.hpp>

#include "huddle/huddle.h"
#include "mpi/stats.h"
#include "runtime/select/explain_json.h"
#include "runtime/select/operation.h"
#include "tools/cli/document_json.h"
#include "tools/cli/explain/explain_tuning.h"

namespace huddle::cli {

std::string explain_tuning_json(const TuningExplained& explained) {
  constexpr int schema = 1;
  Json root = json_document(schema, "explain");
  root["what"] = "from-run";
  root["huddle"] = huddle_version();
  root["file"] = explained.file;
  root["machine"] = explained.subject.machine.name;
  root["calibrated"] = calibrated(explained.subject.machine);
  Json& rows = root["results"] = Json::array();
  for (const auto& [stored, predicted] : explained.rows) {
    const team::TuningRecord& record = stored.record;
    Json& row = rows.emplace_back();
    row = {{"mpi", stored.conditions.mpi},
           {"heap", stored.conditions.has_heap},
           {"cpus", stored.key.cpus},
           {"operation", name(stored.key.tuned_class.operation)},
           {"most_bytes", stored.key.tuned_class.most_bytes},
           {"mpi_may_run", stored.key.tuned_class.may_run_outside},
           {"kept", mpi::implementation_names[static_cast<std::size_t>(record.kept)]}};
    select::add_features(row, record.plan);
    row["transfer_ns"] = record.median_ns;
    if (predicted)
      row["predicted"] = {{"algorithm", predicted->algorithm}, {"predicted_ns", predicted->ns}};
  }
  root["other_machines"] = explained.other_machines;
  return json_text(root);
}

}  // namespace huddle::cli

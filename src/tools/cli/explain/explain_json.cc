// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/select/explain_json.h"
#include "runtime/select/model_error.h"
#include "tools/cli/document_json.h"
#include "tools/cli/explain/explain_report.h"
#include "tools/picture/facts.h"

namespace huddle::cli {

// Returns the library's explanation, plus the machine and the placement of the ranks.
std::string explain_json(const Explained& explained) {
  const Json explanation = select::explanation_object(explained.explanation);
  Json document = json_document(explanation.at("schema").get<int>(), "explain");
  document.update(explanation);
  const std::string& path = explained.subject.path;
  document["machine"] = picture::machine_title(explained.subject.machine);
  document["machine_file"] = path.empty() ? Json(nullptr) : Json(path);
  document["processors"] = explained.processors;
  document["bind"] = explained.binding;
  document["heap"] = explained.has_heap;
  document["mapped"] = explained.explanation.request.mapped;
  document["model_error"] = explained.error;
  const auto by_ns = by_cost(explained.explanation.candidates);
  const std::size_t ties = near_ties(by_ns, explained.error);
  Json& candidates = document["candidates"];
  const auto chosen = std::find(candidates.begin(), candidates.end(), document["chosen"]);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i]["near_tie"] = i < ties;
    if (explained.simulated_ns) candidates[i]["simulated_ns"] = explained.simulated_ns(by_ns[i]);
  }
  if (chosen != candidates.end()) document["chosen"] = *chosen;
  return json_text(document);
}

namespace {

constexpr int explain_nodes_json_schema = 1;

// Sums over all segments.
Json node_part(const internode::NodePhase& phase, const std::string& algorithm, int segments) {
  Json part = {{"where", "node"},
               {"operation", select::name(phase.operation)},
               {"algorithm", algorithm},
               {"bytes", phase.bytes * static_cast<std::size_t>(segments)},
               {"predicted_ns", phase.ns * segments}};
  const std::string_view barrier_phase = name(phase.barrier_phase);
  if (!barrier_phase.empty()) part["phase"] = barrier_phase;
  return part;
}

}  // namespace

std::string explain_nodes_json(const NodesExplained& explained) {
  const internode::Prediction& prediction = explained.prediction;
  Json document = json_document(explain_nodes_json_schema, "explain");
  document["operation"] = select::name(explained.request.operation);
  document["bytes"] = explained.request.bytes;
  document["ranks"] = explained.ranks;
  document["nodes"] = explained.nodes;
  document["map"] = explained.placement;
  const std::string& path = explained.subject.path;
  document["machine"] = picture::machine_title(explained.subject.machine);
  document["machine_file"] = path.empty() ? Json(nullptr) : Json(path);
  document["network"] = {{"message_ns", explained.network.message_ns},
                         {"ns_per_mib", explained.network.ns_per_mib},
                         {"gap_ns", explained.network.gap_ns},
                         {"second_way_percent", explained.network.second_way_percent},
                         {"measured", explained.network.is_estimated == 0}};
  document["predicted_ns"] = prediction.ns();
  document["by_one_leader_ns"] = explained.by_one_leader_ns;
  const int segments = prediction.sharing.segments;
  document["segments"] = segments;
  Json parts = Json::array();
  if (prediction.before) parts.push_back(node_part(*prediction.before, explained.before, segments));
  parts.push_back({{"where", "between"},
                   {"algorithm", prediction.between.algorithm},
                   {"forced", explained.forced.empty() ? Json(nullptr) : Json(explained.forced)},
                   {"radix", prediction.between.schedule->call().radix},
                   {"segments", prediction.between.schedule->call().segments},
                   {"leaders", prediction.sharing.leaders},
                   {"bytes", explained.sent.bytes},
                   {"messages", explained.sent.messages},
                   {"predicted_ns", prediction.between.ns * segments}});
  if (prediction.after) parts.push_back(node_part(*prediction.after, explained.after, segments));
  document["parts"] = parts;
  document["mpi"] = Json::array();
  for (const MpiAnswer& answer : explained.mpis) {
    document["mpi"].push_back(
        {{"mpi", answer.mpi}, {"measured_ns", answer.ns}, {"left_to_it", answer.is_left_to_it}});
  }
  const std::string& why = explained.left_unmeasured;
  document["left_to_mpi_because"] = why.empty() ? Json(nullptr) : Json(why);
  return json_text(document);
}

}  // namespace huddle::cli

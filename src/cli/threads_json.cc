// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/machine_json.h"
#include "cli/threads_report.h"

namespace huddle::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int threads_json_schema = 1;

Json decision_json(const threads::Decision& decision) {
  Json json = {{"time_ns", decision.time_ns},
               {"interval_ms", decision.interval_ms},
               {"reason", threads::name_of(decision.reason)},
               {"threads", decision.threads},
               {"counts", decision.counts},
               {"gives_back", decision.gives_back}};
  if (decision.wanted.empty()) return json;
  json["present"] = decision.present;
  json["wanted"] = decision.wanted;
  json["moved"] = decision.moved;
  json["saved"] = decision.saved;
  json["gain_s"] = decision.gain_s;
  json["cost_s"] = decision.cost_s;
  return json;
}

Json pairs_json(const ThreadsSubject& subject) {
  Json pairs = Json::array();
  for (int v = 0; v < subject.matrix.size(); ++v) {
    const place::Graph::Row row = subject.matrix.graph.row(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row.neighbours[i] < v) continue;
      pairs.push_back({subject.threads[static_cast<std::size_t>(v)],
                       subject.threads[static_cast<std::size_t>(row.neighbours[i])], row.bytes[i]});
    }
  }
  return pairs;
}

}  // namespace

std::string threads_json(const ThreadsSubject& subject) {
  Json document = {
      {"schema", threads_json_schema}, {"command", subject.command}, {"program", subject.title},
      {"machine", subject.machine},    {"threads", subject.threads}, {"touches", subject.touches},
      {"replaced", subject.replaced},  {"notes", subject.notes},     {"moves", subject.moves}};
  document["pairs"] = pairs_json(subject);
  Json decisions = Json::array();
  for (const threads::Decision& one : subject.decisions) decisions.push_back(decision_json(one));
  document["decisions"] = std::move(decisions);
  return json_text(document);
}

}  // namespace huddle::cli

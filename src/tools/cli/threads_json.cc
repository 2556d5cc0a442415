// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "tools/cli/document_json.h"
#include "tools/cli/thread_agent.h"

namespace huddle::cli {
namespace {

constexpr int threads_json_schema = 1;

// Returns [thread, thread, counts], each pair once.
Json pairs_json(const mapping::Graph& graph, const std::vector<int>& threads) {
  Json pairs = Json::array();
  for (int v = 0; v < graph.size(); ++v) {
    const mapping::Graph::Row row = graph.row(v);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row.neighbours[i] < v) continue;
      pairs.push_back({threads[static_cast<std::size_t>(v)],
                       threads[static_cast<std::size_t>(row.neighbours[i])], row.bytes[i]});
    }
  }
  return pairs;
}

Json unobserved_json(const threads::Unobserved& unobserved) {
  Json json = {{"text", unobserved_text(unobserved)},
               {"reads", unobserved.reads},
               {"traffic", unobserved.traffic}};
  if (unobserved.memory) {
    json["resident_bytes"] = unobserved.memory->resident_bytes;
    json["shared_bytes"] = unobserved.memory->shared_bytes;
    json["huge_bytes"] = unobserved.memory->huge_bytes;
  }
  return json;
}

// Returns the pairs with the most events.
Json first_pairs_json(const std::vector<threads::PairEvents>& pairs) {
  constexpr std::size_t most_pairs = 64;
  Json first = Json::array();
  for (const threads::PairEvents& pair :
       std::span(pairs).first(std::min(pairs.size(), most_pairs))) {
    first.push_back({pair.a, pair.b, pair.events});
  }
  return first;
}

Json shared_memory_json(const threads::SharedMemory& memory) {
  Json ranges = Json::array();
  for (const threads::SharedRange& range : memory.ranges) {
    ranges.push_back({{"events", range.events},
                      {"pairs", first_pairs_json(range.pairs)},
                      {"start", fmt::format("0x{:x}", range.addresses.start)},
                      {"end", fmt::format("0x{:x}", range.addresses.end)},
                      {"mapping", range.mapping ? Json(*range.mapping) : Json()},
                      {"symbols", range.symbols}});
  }
  return {{"events", memory.events}, {"ranges", std::move(ranges)}};
}

Json decision_json(const threads::Decision& decision) {
  Json json = {{"time_ns", decision.time_ns},
               {"interval_ms", decision.interval_ms},
               {"reason", threads::name_of(decision.reason)},
               {"text", threads::text_of(decision)},
               {"threads", decision.threads},
               {"seats", decision.assignments},
               {"counts", decision.counts},
               {"pairs", pairs_json(decision.sharing, decision.threads)},
               {"gives_back", decision.restores}};
  if (decision.wanted.empty()) return json;
  json["present"] = decision.present;
  json["wanted"] = decision.wanted;
  json["moved"] = decision.moved;
  json["saved"] = decision.saved;
  // Per second of the run.
  json["before"] = time_json(decision.before, decision.knows_memory);
  json["after"] = time_json(decision.after, decision.knows_memory);
  json["gain_s"] = decision.gain_s;
  json["cost_s"] = decision.cost_s;
  return json;
}

Json playback_json(const threads::Playback& playback) {
  Json standing = Json::array();
  for (const threads::PlacementTime& one : playback.standing) {
    standing.push_back({{"placement", one.name}, {"processors", one.processors}, {"ns", one.ns}});
  }
  return {{"placements", std::move(standing)},
          {"huddle",
           {{"start", threads::start_names[static_cast<std::size_t>(playback.start)]},
            {"verdict", threads::name_of(playback.verdict())},
            {"moves", playback.moves},
            {"settled_ns", playback.settled_ns},
            {"communication_ns", playback.agent_ns},
            {"moving_ns", playback.moving_ns}}}};
}

}  // namespace

std::string threads_json(const ThreadsSubject& subject, const machine::Machine& machine) {
  Json document = {
      {"schema", threads_json_schema}, {"command", subject.command}, {"program", subject.title},
      {"machine", subject.machine},    {"threads", subject.threads}, {"touches", subject.touches},
      {"replaced", subject.replaced},  {"notes", subject.notes},     {"moves", subject.moves}};
  if (subject.matrix.events) {
    document["events"] = {{"total", subject.matrix.events->total()},
                          {"dispersion", subject.matrix.events->dispersion}};
  }
  if (subject.unobserved) document["unobserved"] = unobserved_json(*subject.unobserved);
  document["pairs"] = pairs_json(subject.matrix.graph, subject.threads);
  if (subject.memory.events > 0) document["memory"] = shared_memory_json(subject.memory);
  Json decisions = Json::array();
  for (const threads::Decision& one : subject.decisions) decisions.push_back(decision_json(one));
  document["decisions"] = std::move(decisions);
  if (subject.playback) document["compared"] = playback_json(*subject.playback);
  add_machine(document["machine_model"], machine);
  return json_text(document);
}

}  // namespace huddle::cli

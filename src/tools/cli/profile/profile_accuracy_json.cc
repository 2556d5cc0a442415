// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tools/cli/document_json.h"
#include "tools/cli/profile/profile_kinds.h"

namespace huddle::cli {
namespace {

constexpr int accuracy_json_schema = 1;

Json number_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json one_json(const threads::Accuracy& one) {
  const threads::Watched& watched = one.watched;
  return {{"pattern", threads::known_patterns[static_cast<std::size_t>(one.pattern)]},
          {"cosine", number_json(one.cosine)},
          {"rank_correlation", number_json(one.rank)},
          {"good_after_s", number_json(one.good_after_s)},
          {"counts", one.counts},
          {"moved_after_s", number_json(one.moved_after_s)},
          {"verdict", threads::name_of(one.verdict)},
          {"shortfall", shortfall(one)},
          {"program_s", watched.spent.program_s},
          {"agent_s", watched.spent.agent_s},
          {"induced_faults", watched.spent.faults},
          {"fault_s", watched.fault_s},
          {"lost", watched.lost}};
}

}  // namespace

std::string accuracy_json(const std::vector<threads::Accuracy>& all) {
  Json patterns = Json::array();
  for (const threads::Accuracy& one : all) patterns.push_back(one_json(one));
  return json_text({{"schema", accuracy_json_schema},
                    {"command", "profile"},
                    {"notes", all.front().watched.notes},
                    {"patterns", std::move(patterns)}});
}

}  // namespace huddle::cli

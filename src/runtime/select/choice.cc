// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/select/choice.h"

#include <string_view>

#include "runtime/select/prices.h"

namespace huddle::select {
namespace {

std::optional<Candidate> preferred(const Request& request, const node::RankLocality& locality,
                                   const machine::CostModel& model,
                                   const TeamResources& resources) {
  const auto all = candidates(request, locality, model, resources);
  if (all.empty()) return std::nullopt;
  return chosen(all, resources.forcing.algorithm_for(request));
}

bool is_by(std::string_view algorithm, const Candidate& candidate) {
  return algorithm_name(candidate.plan) == algorithm;
}

}  // namespace

// What runs where buffers are mapped is worth asking for where it is cheaper by more than that
// takes; or where nothing else does what is forced.
std::optional<Choice> choose(const Request& request, const node::RankLocality& locality,
                             const machine::CostModel& model, const TeamResources& resources) {
  const auto usual = preferred(request, locality, model, resources);
  if (!usual) return std::nullopt;
  Choice choice{*usual, std::nullopt, 0};
  if (!resources.heap_refusal.empty()) return choice;
  Request where_mapped = request;
  where_mapped.mapped = true;
  const auto mapped = preferred(where_mapped, locality, model, resources);
  if (!mapped || !is_direct(mapped->plan)) return choice;
  choice.asking_ns = Prices(model, locality).meeting_ns();
  const std::string_view forced = resources.forcing.algorithm_for(request);
  const bool only_mapped = is_by(forced, *mapped) && !is_by(forced, *usual);
  if (only_mapped || mapped->ns + choice.asking_ns < usual->ns) choice.where_mapped = mapped;
  return choice;
}

}  // namespace huddle::select

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/outlook.h"

#include <fmt/format.h>

#include <string>

#include "machine/machine_file.h"

namespace huddle::team {
namespace {

std::optional<machine::Machine> machine_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return machine::parse_machine(text, "rank 0");
}

std::vector<Whereabouts> whereabouts_of(const std::vector<Statement>& statements) {
  std::vector<Whereabouts> whereabouts;
  for (const Statement& one : statements) whereabouts.push_back(one.whereabouts);
  return whereabouts;
}

std::string heap_refusal_of(const std::vector<Statement>& statements) {
  for (std::size_t rank = 0; rank < statements.size(); ++rank) {
    if (!statements[rank].has_heap) return fmt::format("rank {} has no shared heap", rank);
  }
  return {};
}

}  // namespace

Outlook::Outlook(const Settlement& settlement, const Context& context)
    : other_machine_(machine_of(settlement.machine_text)),
      whereabouts_(whereabouts_of(settlement.statements)),
      model_(machine(context)),
      seats_(node::seats(machine(context).topology,
                         seats_of(whereabouts_, machine(context).topology))),
      provision_(select::provision(seats_, model_, settlement.statements.front().queue_bytes)),
      association_(seats_) {
  provision_.heap_refusal = heap_refusal_of(settlement.statements);
}

}  // namespace huddle::team

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/error.h"
#include "runtime/select/choice.h"
#include "runtime/team/selection_inputs.h"

namespace huddle::team {
namespace {

// As all ranks do: it must not fail in another way on one that has no memory.
[[noreturn]] void throw_too_large(const select::Request& request) {
  std::array<char, 200> text{};
  const auto written = fmt::format_to_n(
      text.data(), text.size(),
      "{} of elements of {} bytes: they are too large for this team's memory; make larger queues, "
      "or smaller elements",
      name(request.operation), request.element_bytes);
  throw UsageError({text.data(), std::min(written.size, text.size())});
}

}  // namespace

Decision decide(const select::Request& request, const SelectionInputs& selection_inputs) {
  Decision decision;
  decision.number = selection_inputs.group()->decisions().next_number();
  const auto choice = select::choose(request, selection_inputs.locality(), selection_inputs.model(),
                                     selection_inputs.resources());
  if (!choice) return decision;
  decision.is_possible = true;
  decision.usual = choice->usual.plan;
  decision.asks = choice->where_mapped.has_value();
  if (decision.asks) decision.where_mapped = choice->where_mapped->plan;
  return decision;
}

Decision decision_of(std::span<const Decision> by_rank, const select::Request& request) {
  throw_first(by_rank, &Decision::trouble);
  if (!by_rank.front().is_possible) throw_too_large(request);
  return by_rank.front();
}

}  // namespace huddle::team

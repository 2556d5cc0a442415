// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "team/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "select/prices.h"

namespace huddle::team {
namespace {

struct Preferred {
  select::Plan plan;
  double ns = 0;
};

std::optional<Preferred> preferred(const select::Request& request, const Outlook& outlook) {
  const auto candidates =
      select::candidates(request, outlook.seats(), outlook.model(), outlook.provision());
  if (candidates.empty()) return std::nullopt;
  const select::Candidate& best = select::cheapest(candidates);
  return Preferred{best.plan, best.ns};
}

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

// What runs where buffers are mapped is worth asking for where it is cheaper by more than that
// takes.
Decision decide(const select::Request& request, const Outlook& outlook) {
  Decision decision;
  const auto usual = preferred(request, outlook);
  if (!usual) return decision;
  decision.is_possible = true;
  decision.usual = usual->plan;
  if (!outlook.provision().heap_refusal.empty()) return decision;
  select::Request where_mapped = request;
  where_mapped.mapped = true;
  const auto mapped = preferred(where_mapped, outlook);
  const double asking_ns = select::Prices(outlook.model(), outlook.seats()).meeting_ns();
  if (!mapped || !select::is_direct(mapped->plan)) return decision;
  decision.asks = mapped->ns + asking_ns < usual->ns;
  decision.where_mapped = mapped->plan;
  return decision;
}

Decision decision_of(std::span<const Decision> by_rank, const select::Request& request) {
  throw_first(by_rank, &Decision::trouble);
  if (!by_rank.front().is_possible) throw_too_large(request);
  return by_rank.front();
}

}  // namespace huddle::team

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/greeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "common/error.h"
#include "huddle/huddle.h"
#include "runtime/team/agree.h"
#include "runtime/team/agreed_configuration.h"
#include "runtime/team/business_card.h"
#include "runtime/team/decision.h"

namespace huddle::team {
namespace {

// It comes from another process, so nothing need end it.
std::string_view version_of(const Greeting& greeting) {
  return {greeting.version.begin(),
          std::find(greeting.version.begin(), greeting.version.end(), '\0')};
}

std::string what_differs(const Greeting& first, const Greeting& other, std::size_t rank) {
  if (other.magic != first.magic) {
    return fmt::format("rank {} does not greet as rank 0 does", rank);
  }
  if (other.version != first.version) {
    return fmt::format("rank {} has huddle {} and rank 0 has huddle {}", rank, version_of(other),
                       version_of(first));
  }
  if (other.statement_bytes != first.statement_bytes || other.card_bytes != first.card_bytes ||
      other.decision_bytes != first.decision_bytes) {
    return fmt::format("rank {} has another build of huddle {} than rank 0", rank,
                       version_of(first));
  }
  return {};
}

}  // namespace

Greeting Greeting::mine() {
  Greeting greeting;
  const std::string_view version = huddle_version();
  std::copy_n(version.begin(), std::min(version.size(), greeting.version.size()),
              greeting.version.begin());
  greeting.statement_bytes = sizeof(RankStatement);
  greeting.card_bytes = sizeof(BusinessCard);
  greeting.decision_bytes = sizeof(Decision);
  return greeting;
}

namespace {

// All ranks look at the same greetings, so all of them come to the same result.
void check(std::span<const Greeting> greetings) {
  for (std::size_t rank = 1; rank < greetings.size(); ++rank) {
    const std::string difference = what_differs(greetings.front(), greetings[rank], rank);
    if (difference.empty()) continue;
    throw FailureError(difference + ": give all ranks the same libhuddle");
  }
  for (std::size_t rank = 0; rank < greetings.size(); ++rank) {
    if (greetings[rank].is_in_trouble == 0) continue;
    throw_of(rank, Trouble("it has no memory to make a team"));
  }
}

}  // namespace

void greet(const Bootstrap& bootstrap, const Greeting& mine) {
  with_room_by_rank<Greeting>(bootstrap.ranks, [&](std::span<Greeting> greetings) {
    gather_to(greetings, bootstrap, mine);
    check(greetings);
  });
}

}  // namespace huddle::team

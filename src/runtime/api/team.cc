// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/api/guard.h"
#include "runtime/api/handles.h"

namespace huddle::api {
namespace {

void require_a_place(const huddle_bootstrap* bootstrap) {
  require(bootstrap != nullptr, "huddle_team_create: the bootstrap is null");
  require(bootstrap->allgather != nullptr,
          "huddle_team_create: the bootstrap has no allgather; one of a meeting has it once this "
          "process has taken its place");
  require(bootstrap->ranks >= 1, "huddle_team_create: a team has one rank at least");
  require(bootstrap->rank >= 0 && bootstrap->rank < bootstrap->ranks,
          "huddle_team_create: ranks are counted from 0, and stay below the number of ranks");
}

}  // namespace
}  // namespace huddle::api

using namespace huddle::api;

huddle_status huddle_team_create(huddle_context* context, const huddle_bootstrap* bootstrap,
                                 huddle_team** team, huddle_message* message) {
  return make_handle(team, message, [&] {
    require(context != nullptr, "huddle_team_create: the context is null");
    require_a_place(bootstrap);
    const huddle::team::Bootstrap others = bootstrap_of(*bootstrap);
    return huddle::team::make_or_decline<huddle_team>(others, context->ground, others).release();
  });
}

void huddle_team_free(huddle_team* team) { delete team; }

int huddle_team_rank(const huddle_team* team) { return team == nullptr ? -1 : team->team.rank(); }

int huddle_team_ranks(const huddle_team* team) { return team == nullptr ? 0 : team->team.ranks(); }

const char* huddle_team_message(const huddle_team* team) {
  return team == nullptr ? "the team is null" : team->message.text;
}

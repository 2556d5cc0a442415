// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "api/guard.h"
#include "api/handles.h"

using namespace huddle::api;

huddle_status huddle_team_create(huddle_context* context, const huddle_bootstrap* bootstrap,
                                 huddle_team** team, huddle_message* message) {
  return guarded(message, [&] {
    require(context != nullptr && team != nullptr,
            "huddle_team_create: no context, or nowhere to put the team");
    require(bootstrap != nullptr && bootstrap->allgather != nullptr,
            "huddle_team_create: a bootstrap without an allgather (of a meeting where this process "
            "has not taken its place?)");
    require(bootstrap->rank >= 0 && bootstrap->rank < bootstrap->ranks,
            "huddle_team_create: the rank has to be 0 or more, and below the number of ranks");
    *team = new huddle_team(context->context, bootstrap_of(*bootstrap));
  });
}

void huddle_team_free(huddle_team* team) { delete team; }

int huddle_team_rank(const huddle_team* team) { return team == nullptr ? -1 : team->team.rank(); }

int huddle_team_ranks(const huddle_team* team) { return team == nullptr ? 0 : team->team.ranks(); }

const char* huddle_team_message(const huddle_team* team) {
  return team == nullptr ? "" : team->message.c_str();
}

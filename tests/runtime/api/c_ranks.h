// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks that have nothing but the C interface: real processes, which meet as forked ones do.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "huddle/huddle.h"
#include "ranks.h"

namespace huddle::api {

struct Free {
  void operator()(huddle_context* context) const { huddle_context_free(context); }
  void operator()(huddle_meeting* meeting) const { huddle_meeting_free(meeting); }
  void operator()(huddle_team* team) const { huddle_team_free(team); }
};
using ContextHandle = std::unique_ptr<huddle_context, Free>;
using MeetingHandle = std::unique_ptr<huddle_meeting, Free>;
using TeamHandle = std::unique_ptr<huddle_team, Free>;

// All zero but the size.
huddle_settings default_settings();

// These throw what the call says where it does not succeed.
ContextHandle new_context(const huddle_settings& settings = default_settings());
TeamHandle new_team(const ContextHandle& context, const huddle_bootstrap& bootstrap);
void must(huddle_status status, const TeamHandle& team);

// A child's place among the forked. The parent, too, has to let its meeting go.
using CRankFunction = std::function<void(const huddle_bootstrap&)>;
// Starts them; nobody waits yet.
std::unique_ptr<team::RankProcesses> start_c_ranks(int ranks, const CRankFunction& function);
// Expects all to end well.
void run_c_ranks(int ranks, const CRankFunction& function,
                 std::chrono::milliseconds limit = team::rank_limit);
// The same where all that is wanted is a team with the default settings.
void run_c_teams(int ranks, const std::function<void(const TeamHandle&)>& function);

// A number from the environment that makes a test larger; otherwise `usual`.
long long asked_for(const char* variable, long long usual);

}  // namespace huddle::api

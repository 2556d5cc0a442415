// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks that use only the C interface: forked processes that rendezvous by a huddle_rendezvous.
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
  void operator()(huddle_rendezvous* rendezvous) const { huddle_rendezvous_free(rendezvous); }
  void operator()(huddle_team* team) const { huddle_team_free(team); }
};
using ContextHandle = std::unique_ptr<huddle_context, Free>;
using RendezvousHandle = std::unique_ptr<huddle_rendezvous, Free>;
using TeamHandle = std::unique_ptr<huddle_team, Free>;

// All zero except `size`.
huddle_settings default_settings();

// These functions throw an exception with the message of a call that fails.
ContextHandle new_context(const huddle_settings& settings = default_settings());
TeamHandle new_team(const ContextHandle& context, const huddle_bootstrap& bootstrap);
void must(huddle_status status, const TeamHandle& team);

// Receives the bootstrap of a forked child. The parent must release its rendezvous as well.
using CRankFunction = std::function<void(const huddle_bootstrap&)>;
// Starts the ranks and does not wait for them.
std::unique_ptr<team::RankProcesses> start_c_ranks(int ranks, const CRankFunction& function);
// Runs the ranks and expects all of them to succeed.
void run_c_ranks(int ranks, const CRankFunction& function,
                 std::chrono::milliseconds limit = team::rank_limit);
// The same for tests that only need a team with the default settings.
void run_c_teams(int ranks, const std::function<void(const TeamHandle&)>& function);

// Returns a number from the environment that makes a test larger; otherwise `usual`.
long long asked_for(const char* variable, long long usual);

}  // namespace huddle::api

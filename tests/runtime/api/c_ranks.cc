// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "c_ranks.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace huddle::api {
namespace {

void must(huddle_status status, const char* message) {
  if (status == HUDDLE_OK) return;
  throw std::runtime_error(std::string(huddle_status_text(status)) + ": " + message);
}

}  // namespace

huddle_settings default_settings() {
  huddle_settings settings{};
  settings.size = sizeof settings;
  return settings;
}

ContextHandle new_context(const huddle_settings& settings) {
  huddle_context* context = nullptr;
  huddle_message message;
  must(huddle_context_create(&settings, &context, &message), message.text);
  return ContextHandle(context);
}

TeamHandle new_team(const ContextHandle& context, const huddle_bootstrap& bootstrap) {
  huddle_team* team = nullptr;
  huddle_message message;
  must(huddle_team_create(context.get(), &bootstrap, &team, &message), message.text);
  return TeamHandle(team);
}

void must(huddle_status status, const TeamHandle& team) {
  must(status, huddle_team_message(team.get()));
}

std::unique_ptr<team::RankProcesses> start_c_ranks(int ranks, const CRankFunction& function) {
  huddle_rendezvous* before_fork = nullptr;
  huddle_message why;
  must(huddle_rendezvous_before_fork(ranks, &before_fork, &why), why.text);
  RendezvousHandle rendezvous(before_fork);
  return std::make_unique<team::RankProcesses>(ranks, [&](const team::Bootstrap& place) {
    huddle_message message;
    must(huddle_rendezvous_attach(rendezvous.get(), place.rank, &message), message.text);
    function(huddle_rendezvous_bootstrap(rendezvous.get()));
    rendezvous.reset();
  });
}

void run_c_ranks(int ranks, const CRankFunction& function, std::chrono::milliseconds limit) {
  EXPECT_THAT(start_c_ranks(ranks, function)->wait(limit),
              ::testing::Each(team::RankEnd::How::fine));
}

void run_c_teams(int ranks, const std::function<void(const TeamHandle&)>& function) {
  run_c_ranks(ranks, [&](const huddle_bootstrap& bootstrap) {
    const ContextHandle context = new_context();
    function(new_team(context, bootstrap));
  });
}

long long asked_for(const char* variable, long long usual) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? usual : std::stoll(value);
}

}  // namespace huddle::api

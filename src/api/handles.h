// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is behind the handles of the C interface.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "huddle/huddle.h"
#include "team/context.h"
#include "team/fork_bootstrap.h"
#include "team/team.h"

struct huddle_context {
  explicit huddle_context(huddle::team::ContextOptions options) : context(std::move(options)) {}
  huddle::team::Context context;
};

struct huddle_meeting {
  std::optional<huddle::team::ForkBootstrap> before_fork;
  std::optional<huddle::team::Bootstrap> bootstrap;  // once this process has a place
};

struct huddle_team {
  huddle_team(huddle::team::Context& context, const huddle::team::Bootstrap& bootstrap)
      : team(context, bootstrap) {}
  huddle::team::Team team;
  std::string message;
};

namespace huddle::api {

// The caller's callback as we call it. Throws FailureError where it fails.
team::Bootstrap bootstrap_of(const huddle_bootstrap& bootstrap);

}  // namespace huddle::api

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What is behind the handles of the C interface.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "huddle/huddle.h"
#include "runtime/memory/heap.h"
#include "runtime/team/context.h"
#include "runtime/team/fork_bootstrap.h"
#include "runtime/team/team.h"

// What a process has; teams hold it as well.
struct huddle_ground {
  huddle_ground(std::unique_ptr<huddle::memory::Heap> of, huddle::team::ContextOptions options)
      : heap(std::move(of)), context(std::move(options)) {}

  std::unique_ptr<huddle::memory::Heap> heap;  // null where the system gives none
  huddle::team::Context context;
};

struct huddle_context {
  std::shared_ptr<huddle_ground> ground;
};

struct huddle_meeting {
  int ranks = 1;
  std::optional<huddle::team::ForkBootstrap> before_fork;
  std::optional<huddle::team::Bootstrap> bootstrap;  // once this process has a place
};

struct huddle_team {
  huddle_team(std::shared_ptr<huddle_ground> of, const huddle::team::Bootstrap& bootstrap)
      : ground(std::move(of)), team(ground->context, bootstrap) {}

  std::shared_ptr<huddle_ground> ground;  // goes after the team
  huddle::team::Team team;
  huddle_message message{};
};

namespace huddle::api {

// The caller's callback as we call it; throws FailureError where it fails.
team::Bootstrap bootstrap_of(const huddle_bootstrap& bootstrap);

}  // namespace huddle::api

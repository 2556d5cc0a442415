// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a rank tells the others when a team is made: who it is and where its memory is to be found.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "runtime/memory/arena.h"
#include "runtime/team/agree.h"
#include "runtime/team/presence_table.h"
#include "runtime/team/process_identity.h"

namespace huddle::team {

struct BusinessCard {
  Trouble trouble;  // if there is any, nothing of the rest holds
  ProcessIdentity process;
  memory::ArenaId arena;
  std::uint64_t cap_bytes = 0;
  std::int64_t descriptor = -1;  // of the arena, in its owner's process
  // For threads of the owner's process: its hold on the arena, there until the team is made or has
  // failed.
  const std::shared_ptr<memory::Arena>* owner = nullptr;
  memory::Piece piece;
  PresenceTable::Entry presence;
};
static_assert(std::is_trivially_copyable_v<BusinessCard>);

}  // namespace huddle::team

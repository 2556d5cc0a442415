// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What a team is made from: a way for its members to give each other a few bytes, once.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace huddle::team {

// Every member calls it with the same number of bytes; all receives everybody's, in rank order.
// Throws FailureError where a member cannot be reached.
using Allgather = std::function<void(std::span<const std::byte> mine, std::span<std::byte> all)>;

struct Bootstrap {
  int rank = 0;
  int ranks = 1;
  Allgather allgather;
};

}  // namespace huddle::team

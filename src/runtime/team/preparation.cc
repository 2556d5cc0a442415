// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/team/preparation.h"

#include "common/error.h"
#include "runtime/team/greeting.h"

namespace huddle::team {
namespace {

Greeting greeting_in_trouble() {
  Greeting mine = Greeting::mine();
  mine.is_in_trouble = 1;
  return mine;
}

}  // namespace

Preparation::Preparation(Peers& peers, const Bootstrap& bootstrap)
    : agreement(bootstrap.ranks), joining(peers, bootstrap) {
  joining.take_memory();
}

std::unique_ptr<Preparation> prepared(Context& context, const Bootstrap& bootstrap) {
  std::unique_ptr<Preparation> mine;
  const Trouble trouble =
      Trouble::of([&] { mine = std::make_unique<Preparation>(context.peers(), bootstrap); });
  greet(bootstrap, trouble.is_any() ? greeting_in_trouble() : Greeting::mine());
  return mine;
}

void decline_in_known_group(const Bootstrap& bootstrap) {
  Joining::decline(bootstrap);
  throw FailureError("this rank has no memory to make a team");
}

void decline(const Bootstrap& bootstrap) {
  greet(bootstrap, greeting_in_trouble());
  throw FailureError("this rank has no memory to make a team");
}

}  // namespace huddle::team

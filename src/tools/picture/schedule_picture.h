// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A schedule between nodes on one sheet: where there are few ranks and rounds, who sends to whom in
// each round and which blocks come with it; below that in which round a rank first sends to
// another, and in which round a block comes to a rank, in colours.
#pragma once

#include <string>
#include <vector>

#include "runtime/schedules/schedule.h"

namespace huddle::picture {

struct ScheduleSubject {
  const net::Schedule& schedule;
  std::string title;
  std::vector<std::string> notes;  // lines below it
};

// The same subject gives the same bytes.
std::string as_svg(const ScheduleSubject& subject);

}  // namespace huddle::picture

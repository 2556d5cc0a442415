// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What all ranks send and do in one round of a schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/schedules/schedule.h"

namespace huddle::sim {

struct Sent {
  int from = 0;
  int to = 0;
  double bytes = 0;

  bool operator==(const Sent&) const = default;
};

// Copies and joins after the messages.
struct Worked {
  int rank = 0;
  double bytes = 0;

  bool operator==(const Worked&) const = default;
};

struct Traffic {
  std::vector<Sent> messages;  // by sender, and of one sender in the order in which it posts them
  std::vector<Worked> work;    // by rank, one entry a rank

  bool operator==(const Traffic&) const = default;
};

// The bytes that one rank copies and joins in its round.
double work_bytes(const net::Round& round, double block_bytes);

// Round `number` where every block has so many bytes. Throws FailureError where it has more than
// `most_messages`: an all-to-all that sends everything at once among more than 4,096 ranks would
// take more memory than most have.
inline constexpr std::size_t most_messages = 1 << 24;
Traffic traffic_of(const net::Schedule& schedule, std::int64_t number, double block_bytes);

}  // namespace huddle::sim

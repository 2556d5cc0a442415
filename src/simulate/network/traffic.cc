// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "simulate/network/traffic.h"

#include <fmt/format.h>

#include "common/error.h"

namespace huddle::sim {
namespace {

std::int64_t blocks_of(const net::Work& work) {
  if (const auto* copy = std::get_if<net::Copy>(&work)) return copy->from.blocks.count();
  return std::get<net::Join>(work).blocks.count();
}

}  // namespace

double work_bytes(const net::Round& round, double block_bytes) {
  std::int64_t blocks = 0;
  for (const net::Work& work : round.work) blocks += blocks_of(work);
  return static_cast<double>(blocks) * block_bytes;
}

Traffic traffic_of(const net::Schedule& schedule, std::int64_t number, double block_bytes) {
  Traffic traffic;
  net::Round round;
  for (int rank = 0; rank < schedule.ranks(); ++rank) {
    const net::RoundSpan span = schedule.active(rank);
    if (number < span.first || number >= span.last) continue;
    schedule.make(rank, number, round);
    for (const net::Message& message : round.sends) {
      const auto blocks = static_cast<double>(message.part.blocks.count());
      traffic.messages.push_back({rank, message.peer, blocks * block_bytes});
    }
    if (traffic.messages.size() > most_messages) {
      throw FailureError(
          fmt::format("{} ranks send more than {} messages in one round, which is more than is "
                      "simulated at once: ask for fewer ranks, or for another algorithm",
                      schedule.ranks(), most_messages));
    }
    const double bytes = work_bytes(round, block_bytes);
    if (bytes > 0) traffic.work.push_back({rank, bytes});
  }
  return traffic;
}

}  // namespace huddle::sim

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "runtime/schedules/folded.h"

namespace huddle::net {

RankTraffic FoldedAllreduce::traffic(int rank) const {
  if (ranks() == 1) return {};
  if (folding_.is_out(rank)) return {2, 1, 1, blocks(), blocks()};
  RankTraffic traffic = seat_traffic(folding_.seat_of(rank));
  if (!folding_.is_paired(rank)) return traffic;
  traffic.rounds += 2;
  ++traffic.sends;
  ++traffic.receives;
  traffic.blocks_sent += blocks();
  traffic.blocks_received += blocks();
  return traffic;
}

Scratch FoldedAllreduce::scratch(int rank) const {
  if (ranks() == 1 || folding_.is_out(rank)) return {};
  return {1, folding_.is_paired(rank) ? blocks() : seat_scratch()};
}

void FoldedAllreduce::fill(int rank, std::int64_t number, Round& round) const {
  const Blocks all = Blocks::interval(0, blocks());
  const std::int64_t last = rounds() - 1;
  if (ranks() == 1) {
    round.copy(Buffer::input, Buffer::output, all);
  } else if (folds() && (number == 0 || number == last)) {
    if (!folding_.is_paired(rank)) return;
    const bool is_out = folding_.is_out(rank);
    const int peer = is_out ? rank - 1 : rank + 1;
    if (number == last) {
      if (is_out) round.receive(peer, Buffer::output, all);
      if (!is_out) round.send(peer, Buffer::output, all);
    } else if (is_out) {
      round.send(peer, Buffer::input, all);
    } else {
      round.receive(peer, net::scratch(0), all);
      round.join(Buffer::input, net::scratch(0), Buffer::output, all);
    }
  } else if (!folding_.is_out(rank)) {
    const std::int64_t step = number - (folds() ? 1 : 0);
    const bool untouched = step == 0 && !folding_.is_paired(rank);
    fill_seat(folding_.seat_of(rank), step, untouched ? Buffer::input : Buffer::output, round);
  }
}

}  // namespace huddle::net

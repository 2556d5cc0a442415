// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Exchange of one block per pair of ranks: all-to-all, gather and scatter. As in the paper of
// Zhang, Meng and Huo, ranks exchange data pair by pair, and each exchange is cut into tiles that
// are read while they are still in a cache that both ranks share.
//
// This file determines which peers a rank exchanges with, and in which order tiles are sent and
// received; pair_channels.h transfers them. A block that could not be read or written directly is
// sent in tiles instead; this involves only the two ranks, and the call succeeds. If a block has
// another size than its receiver expects, only that rank's call fails, as with point-to-point
// messages.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/context/context.h"
#include "runtime/node/blocks.h"
#include "runtime/node/lines.h"
#include "runtime/node/pair_channels.h"
#include "runtime/node/pair_plan.h"

namespace huddle::node {

class PairExchange {
 public:
  using Parameters = PairParameters;
  using Order = PairOrder;
  using Plan = PairPlan;

  // Requires: all words of shared memory hold `start`, and `start` is even.
  PairExchange(const Parameters& parameters, int ranks, context::Sequence start);

  std::size_t shared_bytes() const { return channels_.shared_bytes(); }

  // Sends the outgoing blocks of the input and fills the incoming blocks of the output. Sender and
  // receiver must pass the same size for a block. If `in_place`, a rank's block for a peer lies
  // where the peer's block is to be stored; then the order must not be `staggered`, and a rank's
  // block for itself is not touched. Throws context::SizesDiffer if a received block has an
  // unexpected size.
  template <context::SingleCopyContext Ctx>
  void run(Ctx& ctx, const Blocks& outgoing, const Blocks& incoming, bool in_place,
           const Plan& plan) {
    channels_.departures().leaving_if_thrown(ctx, [&] {
      if (is_short(ctx.ranks(), outgoing, incoming, plan)) {
        exchange_short(ctx, outgoing, incoming, in_place, plan);
      } else {
        exchange(ctx, outgoing, incoming, in_place, with_results(plan, incoming, ctx.ranks()));
      }
    });
    if (const auto surprise = channels_.surprise()) fail(*surprise, ctx.rank());
  }

  static Plan with_results(const Plan& plan, const Blocks& incoming, int ranks);
  static int target(int rank, int ranks, int step, Order order);
  static int source(int rank, int ranks, int step, Order order);

 private:
  [[noreturn]] static void fail(const PairChannels::SizeMismatch& surprise, int rank);

  static PairStream stream(int rank, int peer, const Blocks& blocks) {
    return {peer, peer == rank ? Block{} : blocks.of(peer)};
  }

  // Returns whether each of this rank's blocks is one tile that fits behind a flag. The result
  // may differ between ranks in the same call.
  static bool is_short(int ranks, const Blocks& outgoing, const Blocks& incoming,
                       const Plan& plan) {
    const std::size_t most = std::min(plan.tile_bytes, most_in_line);
    return !plan.returns() && plan.announced_from > most && outgoing.largest(ranks) <= most &&
           incoming.largest(ranks) <= most;
  }

  // Sends all blocks before it receives any, so that ranks cannot wait for each other, and blocks
  // may be exchanged in place. Works with any order of the other ranks.
  template <context::SingleCopyContext Ctx>
  void exchange_short(Ctx& ctx, const Blocks& outgoing, const Blocks& incoming, bool in_place,
                      const Plan& plan) {
    const auto for_each_peer = [&](const Blocks& blocks, const auto& action) {
      for (int step = 1, peer = ctx.rank(); step < ctx.ranks(); ++step) {
        peer = peer + 1 == ctx.ranks() ? 0 : peer + 1;
        const Block block = blocks.of(peer);
        if (block.bytes > 0) action(peer, block);
      }
    };
    for_each_peer(outgoing,
                  [&](int peer, const Block& block) { channels_.send_short(ctx, peer, block); });
    if (!in_place) move_own(ctx, outgoing.of(ctx.rank()), incoming.of(ctx.rank()));
    for_each_peer(incoming, [&](int peer, const Block& block) {
      channels_.receive_short(ctx, peer, block, plan);
    });
  }

  template <context::SingleCopyContext Ctx>
  void exchange(Ctx& ctx, const Blocks& outgoing, const Blocks& incoming, bool in_place,
                const Plan& plan) {
    // A rank copies its block for itself while the data that it has sent is in transit. If the plan
    // lets peers write announced blocks, it does so at the end, while they write.
    const bool is_own_last = plan.written_from != Plan::never;
    const auto move_own_unless = [&](bool is_moved) {
      if (in_place || is_moved) return;
      move_own(ctx, outgoing.of(ctx.rank()), incoming.of(ctx.rank()), plan.results);
    };
    const auto outgoing_at = [&](int step) {
      PairStream out =
          stream(ctx.rank(), target(ctx.rank(), ctx.ranks(), step, plan.order), outgoing);
      // A block that the peer's block replaces cannot be announced, because the peer could not read
      // it later.
      const bool stays = !in_place || incoming.of(out.peer).bytes == 0;
      out.is_announced = plan.announces(out.block.bytes) && stays && channels_.is_open(out.peer);
      return out;
    };
    for (int step = 0; step < ctx.ranks(); ++step) {
      PairTurn& turn = turns_[static_cast<std::size_t>(step)];
      turn.out = outgoing_at(step);
      turn.in = stream(ctx.rank(), source(ctx.rank(), ctx.ranks(), step, plan.order), incoming);
    }
    fill_ahead(ctx, plan);
    move_own_unless(is_own_last);
    move_all(ctx, plan);
    if (plan.returns()) {
      for (const PairTurn& turn : turns_) channels_.finish_ping_pong_turn(ctx, turn, plan);
    }
    move_own_unless(!is_own_last);
    if (channels_.was_unsettled()) settle(ctx, plan);
    if (plan.method->ownership == memory::LineOwnership::prefetched) prefetch_cells(ctx, plan);
  }

  // Fills cells before anything else, as far as possible without waiting: those of all turns with
  // the order `as_ready`, otherwise the first cell of the first turn.
  template <context::SingleCopyContext Ctx>
  void fill_ahead(Ctx& ctx, const Plan& plan) {
    if (plan.order == Order::as_ready) {
      for (PairTurn& turn : turns_) fill_what_has_room(ctx, turn, plan);
      return;
    }
    const auto first = std::find_if(turns_.begin(), turns_.end(),
                                    [](const PairTurn& turn) { return turn.is_left(); });
    if (first == turns_.end() || first->out.bytes_left() == 0) return;
    if (channels_.has_room(*first, plan)) channels_.fill(ctx, *first, plan);
  }

  template <context::SingleCopyContext Ctx>
  void move_all(Ctx& ctx, const Plan& plan) {
    if (plan.order == Order::as_ready) {
      move_as_ready(ctx, plan);
    } else {
      for (PairTurn& turn : turns_) move(ctx, turn, plan);
    }
  }

  // A tile is filled before one is drained. This excludes deadlock, and in an in-place exchange it
  // ensures that a tile has been sent before another replaces it.
  template <context::SingleCopyContext Ctx>
  void move(Ctx& ctx, PairTurn& turn, const Plan& plan) {
    while (turn.is_left()) {
      if (turn.out.bytes_left() > 0) channels_.fill(ctx, turn, plan);
      if (turn.in.bytes_left() > 0) channels_.drain(ctx, turn.in, plan);
    }
  }

  // Deadlock is impossible here, too. If both ranks of a pair waited to fill, both channels would
  // be full and each rank a whole channel ahead of the other; if both waited to drain, neither
  // would have filled. Fills stay ahead of drains, so this holds in place as well.
  template <context::SingleCopyContext Ctx>
  void move_as_ready(Ctx& ctx, const Plan& plan) {
    for (PairTurn& turn : turns_) {
      fill_what_has_room(ctx, turn, plan);
      if (!turn.is_left()) continue;
      moving_.push_back(&turn);
      awaited_.push_back(next_of(turn, ctx.rank(), plan));
    }
    while (!moving_.empty()) {
      const int found = ctx.wait_any(awaited_);
      PairTurn& turn = *moving_[static_cast<std::size_t>(found)];
      if (fills_next(turn, plan)) {
        channels_.fill(ctx, turn, plan);
      } else {
        channels_.drain(ctx, turn.in, plan);
      }
      fill_what_has_room(ctx, turn, plan);
      if (turn.is_left()) {
        awaited_[static_cast<std::size_t>(found)] = next_of(turn, ctx.rank(), plan);
      } else {
        moving_.erase(moving_.begin() + found);
        awaited_.erase(awaited_.begin() + found);
      }
    }
  }
  // Returns whether this rank's next step with the peer is to send a tile. It sends at most the
  // capacity of a channel more than it has received.
  bool fills_next(const PairTurn& turn, const Plan& plan) const {
    return turn.out.bytes_left() > 0 &&
           (turn.in.bytes_left() == 0 ||
            turn.out.moved < turn.in.moved + channels_.bytes_ahead(plan));
  }
  template <context::SingleCopyContext Ctx>
  void fill_what_has_room(Ctx& ctx, PairTurn& turn, const Plan& plan) {
    while (fills_next(turn, plan) && channels_.has_room(turn, plan))
      channels_.fill(ctx, turn, plan);
  }
  context::AwaitedFlag next_of(const PairTurn& turn, int rank, const Plan& plan) {
    return fills_next(turn, plan) ? channels_.room(turn.out, rank, plan)
                                  : channels_.tile(turn.in, rank);
  }

  // Completes the announced blocks. Such a block must stay unchanged until it has been read or
  // written. If that failed, the block is sent now, in the same turns. All writes precede the waits
  // for written blocks, which excludes deadlock.
  template <context::SingleCopyContext Ctx>
  void settle(Ctx& ctx, const Plan& plan) {
    for (PairTurn& turn : turns_) {
      turn.out.start_again();
      if (!channels_.direct_copy_failed(ctx, turn.out)) turn.out.moved = turn.out.block.bytes;
    }
    for (PairTurn& turn : turns_) {
      turn.in.start_again();
      if (!channels_.is_missing(ctx, turn.in.peer)) turn.in.moved = turn.in.block.bytes;
    }
    move_all(ctx, plan);
  }

  // Prefetches cells if this rank received nothing. No peer waits for it then, and the ranks to
  // which it has sent data are reading meanwhile.
  template <context::SingleCopyContext Ctx>
  void prefetch_cells(Ctx& ctx, const Plan& plan) {
    const bool has_read = std::any_of(turns_.begin(), turns_.end(),
                                      [](const PairTurn& turn) { return turn.in.block.bytes > 0; });
    if (has_read) return;
    for (const PairTurn& turn : turns_) channels_.prefetch_cells(ctx, turn.out, plan);
  }

  PairChannels channels_;
  std::vector<PairTurn> turns_;  // of the current call
  // Turns in progress, and the flag that each waits for. Empty between calls, unless a peer was
  // lost during a call; after that nothing is exchanged any more.
  std::vector<PairTurn*> moving_;
  std::vector<context::AwaitedFlag> awaited_;
};

}  // namespace huddle::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Single-copy exchange: each rank copies the data that it receives directly from the sender's
// memory, so that each byte is copied once and shared memory contains only addresses and flags.
// Used for all-to-all, gather, scatter, allgather and broadcast of any size.
//
// In a gather, the root would copy all blocks while the other ranks wait. Therefore the senders
// write their blocks to its memory instead.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/node/blocks.h"
#include "runtime/node/exposures.h"
#include "runtime/node/lines.h"

namespace huddle::node {

class DirectExchange {
 public:
  struct Parameters {
    std::size_t tile_bytes = 65536;  // bytes staged at a time when two ranks swap blocks
  };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    // Maximum number of ranks that access the root's memory at the same time; 0: no limit.
    int at_once = 0;
  };

  // Requires: all words of shared memory hold `start`.
  DirectExchange(const Parameters& parameters, int ranks, context::Sequence start);

  std::size_t shared_bytes() const { return layout_.size(); }
  std::size_t scratch_bytes() const { return tile_bytes_; }

  // The collectives throw context::PathFailed on all ranks if a rank cannot access a peer's memory.

  // Copies each rank's outgoing blocks of the input to the incoming blocks of the others' outputs.
  // Sender and receiver must pass the same size for a block. If `in_place`, a rank's block for
  // itself is not touched, and no incoming block may overlap one that a peer still reads (see
  // swap()).
  template <context::SingleCopyContext Ctx>
  void exchange(Ctx& ctx, const Blocks& outgoing, const Blocks& incoming, bool in_place) {
    exposures_.call(ctx, [&] {
      show_blocks(ctx, Region::input, outgoing);
      if (!in_place) move_own(ctx, outgoing.of(ctx.rank()), incoming.of(ctx.rank()));
      // Begins with the next rank, so that equally fast ranks read from different ones.
      for (int step = 1; step < ctx.ranks(); ++step) {
        const int owner = (ctx.rank() + step) % ctx.ranks();
        take(ctx, owner, ctx.rank(), incoming.of(owner));
      }
    });
  }

  // All-to-all in place: a rank's block for a peer lies where the peer's block is to be stored.
  // Pairs of ranks swap their blocks one tile at a time: each rank reads the peer's tile into
  // scratch memory, and stores it after the peer has read the tile that it replaces.
  template <context::SingleCopyContext Ctx>
  void swap(Ctx& ctx, const Blocks& blocks) {
    exposures_.call(ctx, [&] {
      show_blocks(ctx, Region::input, blocks);
      for (int step = 0; step < ctx.ranks(); ++step) {
        const int peer = (step - ctx.rank() + ctx.ranks()) % ctx.ranks();
        if (peer != ctx.rank()) swap_with(ctx, peer, blocks.of(peer));
      }
    });
  }

  // Like exchange(), but only the root has outgoing blocks.
  template <context::SingleCopyContext Ctx>
  void scatter(Ctx& ctx, const Blocks& outgoing, const Block& incoming, int root, bool in_place,
               const Plan& plan) {
    exposures_.call(ctx, [&] {
      show_blocks(ctx, Region::input, outgoing);
      if (ctx.rank() == root) {
        if (!in_place) move_own(ctx, outgoing.of(root), incoming);
      } else {
        wait_for_turn(ctx, root, plan);
        take(ctx, root, ctx.rank(), incoming);
      }
    });
  }

  // Like exchange(), but only the root has incoming blocks, and the other ranks write them.
  template <context::SingleCopyContext Ctx>
  void gather(Ctx& ctx, const Block& outgoing, const Blocks& incoming, int root, bool in_place,
              const Plan& plan) {
    exposures_.call(ctx, [&] {
      show_blocks(ctx, Region::output, incoming);
      if (ctx.rank() == root) {
        if (!in_place) move_own(ctx, outgoing, incoming.of(root));
      } else {
        wait_for_turn(ctx, root, plan);
        put(ctx, root, outgoing);
      }
    });
  }

  // Copies each rank's input to its block of every output. If `in_place`, skips a rank's own block.
  template <context::SingleCopyContext Ctx>
  void allgather(Ctx& ctx, const Blocks& blocks, bool in_place) {
    exposures_.call(ctx, [&] {
      show_all(ctx);
      const Block own = blocks.of(ctx.rank());
      if (!in_place) move_own(ctx, {0, own.bytes}, own);
      for (int step = 1; step < ctx.ranks(); ++step) {
        const int owner = (ctx.rank() + step) % ctx.ranks();
        take(ctx, owner, for_all, blocks.of(owner));
      }
    });
  }

  // Copies the root's input to the other ranks' outputs.
  template <context::SingleCopyContext Ctx>
  void bcast(Ctx& ctx, std::size_t bytes, int root, const Plan& plan) {
    exposures_.call(ctx, [&] {
      show_all(ctx);
      if (ctx.rank() != root) {
        wait_for_turn(ctx, root, plan);
        take(ctx, root, for_all, {0, bytes});
      }
    });
  }

 private:
  // Index of the exposed place from which all peers read.
  static constexpr int for_all = 0;

  template <context::SingleCopyContext Ctx>
  void show_all(Ctx& ctx) {
    exposures_.show(ctx, for_all, {Region::input, ctx.rank(), 0});
    exposures_.publish(ctx);
  }
  // Exposes each peer's block, for the peer to read or write.
  template <context::SingleCopyContext Ctx>
  void show_blocks(Ctx& ctx, Region region, const Blocks& blocks) {
    for (int peer = 0; peer < ctx.ranks(); ++peer) {
      const Block block = blocks.of(peer);
      if (block.bytes == 0) continue;
      exposures_.show(ctx, peer, {region, ctx.rank(), static_cast<std::size_t>(block.offset)});
    }
    exposures_.publish(ctx);
  }

  // A failure of take() or put() is reported to all ranks at the end of the call.
  template <context::SingleCopyContext Ctx>
  void take(Ctx& ctx, int owner, int number, const Block& block) {
    if (block.bytes == 0) return;
    (void)exposures_.pull(ctx, owner, number,
                          {Region::output, ctx.rank(), static_cast<std::size_t>(block.offset)}, 0,
                          block.bytes);
  }

  template <context::SingleCopyContext Ctx>
  void put(Ctx& ctx, int owner, const Block& block) {
    if (block.bytes == 0) return;
    (void)exposures_.push(ctx, owner, ctx.rank(), 0,
                          {Region::input, ctx.rank(), static_cast<std::size_t>(block.offset)},
                          block.bytes);
  }

  template <context::SingleCopyContext Ctx>
  void swap_with(Ctx& ctx, int peer, const Block& block) {
    const Address aside{Region::scratch, ctx.rank(), 0};
    context::Sequence& tiles = tiles_[static_cast<std::size_t>(peer)];
    for (std::size_t at = 0; at < block.bytes; at += tile_bytes_) {
      const std::size_t bytes = std::min(tile_bytes_, block.bytes - at);
      const bool came = exposures_.pull(ctx, peer, ctx.rank(), aside, at, bytes);
      ctx.store(read_from(peer, ctx.rank()), ++tiles);
      ctx.wait(read_from(ctx.rank(), peer), context::until_reached(tiles));
      if (!came) continue;
      ctx.copy({Region::output, ctx.rank(), static_cast<std::size_t>(block.offset) + at}, aside,
               bytes, memory::CopyKernel::plain);
    }
  }
  // Returns the address of the counter of `owner`'s tiles that `reader` has read.
  Address read_from(int owner, int reader) const {
    return {Region::shared, reader, read_offset_ + static_cast<std::size_t>(owner) * flag_bytes};
  }

  // If the plan limits concurrent copies, waits until the rank `at_once` places before this one has
  // finished.
  template <context::SingleCopyContext Ctx>
  void wait_for_turn(Ctx& ctx, int root, const Plan& plan) {
    const int turn = (ctx.rank() - root + ctx.ranks()) % ctx.ranks();
    if (plan.at_once == 0 || turn <= plan.at_once) return;
    exposures_.wait_until_through(ctx, (root + turn - plan.at_once) % ctx.ranks());
  }

  std::size_t tile_bytes_;
  SharedLayout layout_;
  ExposedBuffers exposures_;
  std::size_t read_offset_;
  std::vector<context::Sequence> tiles_;  // by peer, over all calls so far
};

}  // namespace huddle::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Single-copy exchange: each rank copies the data that it receives directly from the owner's
// memory, so that each byte is copied once and shared memory holds only addresses and flags. Serves
// all-to-all, gather, scatter, allgather and broadcast of any sizes.
//
// If one rank receives from all others, it would copy everything while they wait. In that case
// (gather) the senders write their blocks into its memory.
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
    std::size_t tile_bytes = 65536;  // staged at a time when two ranks swap blocks
  };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    // Number of ranks that access one rank's memory at a time if all need to; 0: all of them.
    int at_once = 0;
  };

  // Requires: shared memory holds `start` everywhere.
  DirectExchange(const Parameters& parameters, int ranks, context::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }
  std::size_t scratch_bytes() const { return tile_bytes_; }

  // The collectives throw context::PathFailed on all ranks if a rank cannot access a peer's memory.

  // Copies each rank's outgoing blocks of the input to the incoming blocks of the others' outputs.
  // Both ranks must pass the same size for a block. If `in_place`, a rank's own block is not
  // touched, and no incoming block may overlap one that a peer still reads (see swap()).
  template <context::SingleCopyContext W>
  void exchange(W& w, const Blocks& outgoing, const Blocks& incoming, bool in_place) {
    exposures_.call(w, [&] {
      show_blocks(w, Region::input, outgoing);
      if (!in_place) move_own(w, outgoing.of(w.rank()), incoming.of(w.rank()));
      // Begins with the next rank, so that equally fast ranks read from different ones.
      for (int step = 1; step < w.ranks(); ++step) {
        const int owner = (w.rank() + step) % w.ranks();
        take(w, owner, w.rank(), incoming.of(owner));
      }
    });
  }

  // All-to-all in place: a rank's block for a peer lies where the peer's block is to be stored.
  // Pairs of ranks swap their blocks one tile at a time: each rank reads the peer's tile into
  // scratch and stores it once the peer has read its own.
  template <context::SingleCopyContext W>
  void swap(W& w, const Blocks& blocks) {
    exposures_.call(w, [&] {
      show_blocks(w, Region::input, blocks);
      for (int step = 0; step < w.ranks(); ++step) {
        const int peer = (step - w.rank() + w.ranks()) % w.ranks();
        if (peer != w.rank()) swap_with(w, peer, blocks.of(peer));
      }
    });
  }

  // Like exchange(), but only the root has outgoing blocks.
  template <context::SingleCopyContext W>
  void scatter(W& w, const Blocks& outgoing, const Block& incoming, int root, bool in_place,
               const Plan& plan) {
    exposures_.call(w, [&] {
      show_blocks(w, Region::input, outgoing);
      if (w.rank() == root) {
        if (!in_place) move_own(w, outgoing.of(root), incoming);
      } else {
        wait_for_turn(w, root, plan);
        take(w, root, w.rank(), incoming);
      }
    });
  }

  // Like exchange(), but only the root has incoming blocks, and the other ranks write them.
  template <context::SingleCopyContext W>
  void gather(W& w, const Block& outgoing, const Blocks& incoming, int root, bool in_place,
              const Plan& plan) {
    exposures_.call(w, [&] {
      show_blocks(w, Region::output, incoming);
      if (w.rank() == root) {
        if (!in_place) move_own(w, outgoing, incoming.of(root));
      } else {
        wait_for_turn(w, root, plan);
        put(w, root, outgoing);
      }
    });
  }

  // Copies each rank's input to its block of every output. If `in_place`, skips a rank's own block.
  template <context::SingleCopyContext W>
  void allgather(W& w, const Blocks& blocks, bool in_place) {
    exposures_.call(w, [&] {
      show_all(w);
      const Block own = blocks.of(w.rank());
      if (!in_place) move_own(w, {0, own.bytes}, own);
      for (int step = 1; step < w.ranks(); ++step) {
        const int owner = (w.rank() + step) % w.ranks();
        take(w, owner, for_all, blocks.of(owner));
      }
    });
  }

  // Copies the root's input to the other ranks' outputs.
  template <context::SingleCopyContext W>
  void bcast(W& w, std::size_t bytes, int root, const Plan& plan) {
    exposures_.call(w, [&] {
      show_all(w);
      if (w.rank() != root) {
        wait_for_turn(w, root, plan);
        take(w, root, for_all, {0, bytes});
      }
    });
  }

 private:
  // Number of the place that a rank exposes for all peers.
  static constexpr int for_all = 0;

  template <context::SingleCopyContext W>
  void show_all(W& w) {
    exposures_.show(w, for_all, {Region::input, w.rank(), 0});
    exposures_.publish(w);
  }
  // Exposes each peer's block, for the peer to read or write.
  template <context::SingleCopyContext W>
  void show_blocks(W& w, Region region, const Blocks& blocks) {
    for (int peer = 0; peer < w.ranks(); ++peer) {
      const Block block = blocks.of(peer);
      if (block.bytes == 0) continue;
      exposures_.show(w, peer, {region, w.rank(), static_cast<std::size_t>(block.offset)});
    }
    exposures_.publish(w);
  }

  // A failure of take() or put() is reported to all ranks at the end of the call.
  template <context::SingleCopyContext W>
  void take(W& w, int owner, int number, const Block& block) {
    if (block.bytes == 0) return;
    (void)exposures_.pull(w, owner, number,
                          {Region::output, w.rank(), static_cast<std::size_t>(block.offset)}, 0,
                          block.bytes);
  }

  template <context::SingleCopyContext W>
  void put(W& w, int owner, const Block& block) {
    if (block.bytes == 0) return;
    (void)exposures_.push(w, owner, w.rank(), 0,
                          {Region::input, w.rank(), static_cast<std::size_t>(block.offset)},
                          block.bytes);
  }

  template <context::SingleCopyContext W>
  void swap_with(W& w, int peer, const Block& block) {
    const Address aside{Region::scratch, w.rank(), 0};
    context::Sequence& tiles = tiles_[static_cast<std::size_t>(peer)];
    for (std::size_t at = 0; at < block.bytes; at += tile_bytes_) {
      const std::size_t bytes = std::min(tile_bytes_, block.bytes - at);
      const bool came = exposures_.pull(w, peer, w.rank(), aside, at, bytes);
      w.store(read_from(peer, w.rank()), ++tiles);
      w.wait(read_from(w.rank(), peer), context::until_reached(tiles));
      if (!came) continue;
      w.copy({Region::output, w.rank(), static_cast<std::size_t>(block.offset) + at}, aside, bytes,
             memory::CopyKernel::plain);
    }
  }
  // Number of `owner`'s tiles that `reader` has read; stored in the reader's memory.
  Address read_from(int owner, int reader) const {
    return {Region::shared, reader, read_offset_ + static_cast<std::size_t>(owner) * flag_bytes};
  }

  // If the plan limits concurrent copies, waits until the rank `at_once` places before has
  // finished.
  template <context::SingleCopyContext W>
  void wait_for_turn(W& w, int root, const Plan& plan) {
    const int turn = (w.rank() - root + w.ranks()) % w.ranks();
    if (plan.at_once == 0 || turn <= plan.at_once) return;
    exposures_.wait_until_through(w, (root + turn - plan.at_once) % w.ranks());
  }

  std::size_t tile_bytes_;
  SharedLayout carver_;
  ExposedBuffers exposures_;
  std::size_t read_offset_;
  std::vector<context::Sequence> tiles_;  // by peer, over all calls so far
};

}  // namespace huddle::node

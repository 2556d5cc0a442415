// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Everybody takes what it is to have straight from where its owner has it: each byte is copied
// once, by whoever wants it, and nothing goes through shared memory but where it lies. For
// all-to-all and its parts, allgather and broadcast, of any sizes.
//
// Where one rank wants what all others have it would copy everything while they wait. There they
// may copy: each puts its part where that rank wants it.
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
    std::size_t tile_bytes = 65536;  // that are put aside at a time where blocks change places
  };
  // What may differ from call to call; equal on all ranks.
  struct Plan {
    // That read from one rank, or write to it, at a time, where all want to; 0: all of them.
    int at_once = 0;
  };

  // pre: shared memory holds `start` everywhere.
  DirectExchange(const Parameters& parameters, int ranks, context::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }
  std::size_t scratch_bytes() const { return tile_bytes_; }

  // All: throw context::PathFailed on all ranks where one could not read, or write.

  // Each rank's outgoing blocks of the input to everybody's incoming ones of the output. What two
  // ranks say of a block has to agree in its bytes. In place a rank's own block is not touched;
  // others' must not go where a block lies that somebody still reads: see swap().
  template <context::SingleCopyContext W>
  void exchange(W& w, const Blocks& outgoing, const Blocks& incoming, bool in_place) {
    exposures_.call(w, [&] {
      show_blocks(w, Region::input, outgoing);
      if (!in_place) move_own(w, outgoing.of(w.rank()), incoming.of(w.rank()));
      // Begun with the next rank: no two read from the same one as long as all are as fast.
      for (int step = 1; step < w.ranks(); ++step) {
        const int owner = (w.rank() + step) % w.ranks();
        take(w, owner, w.rank(), incoming.of(owner));
      }
    });
  }

  // All-to-all in place: a rank's block for another lies where that one's is to be put. Pair by
  // pair they change places, a tile at a time: each reads the other's, and puts it where its own
  // was when that has been read as well.
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

  // The same where only the root has outgoing blocks.
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

  // The same where only the root has incoming blocks, and the others put them there.
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

  // What each rank's input holds, to where the blocks of everybody's output are. This rank's own is
  // not touched in place.
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

  // The root's input to everybody else's output.
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
  // The place that a rank shows where it has the same for all.
  static constexpr int for_all = 0;

  template <context::SingleCopyContext W>
  void show_all(W& w) {
    exposures_.show(w, for_all, {Region::input, w.rank(), 0});
    exposures_.publish(w);
  }
  // Each peer's, for it to read or to write.
  template <context::SingleCopyContext W>
  void show_blocks(W& w, Region region, const Blocks& blocks) {
    for (int peer = 0; peer < w.ranks(); ++peer) {
      const Block block = blocks.of(peer);
      if (block.bytes == 0) continue;
      exposures_.show(w, peer, {region, w.rank(), static_cast<std::size_t>(block.offset)});
    }
    exposures_.publish(w);
  }

  // Both: a failure is told to all at the end of the call.
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
  // How many of `owner`'s tiles `reader` has read, in the reader's memory.
  Address read_from(int owner, int reader) const {
    return {Region::shared, reader, read_offset_ + static_cast<std::size_t>(owner) * flag_bytes};
  }

  // Where there are more than may copy at a time each begins when the one that many places before
  // it is through.
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
  std::vector<context::Sequence> tiles_;  // by peer, of all calls so far
};

}  // namespace huddle::node

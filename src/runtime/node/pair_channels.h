// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Data transfer between a rank and each of its peers. Each pair has one channel per direction: a
// few cells in the sender's memory, which are filled and drained in turn, and a larger number of
// cache lines for flags and for payloads that fit behind a flag. Only the two ranks of a pair know
// the state of its channels; therefore blocks may have any sizes, and empty blocks cost nothing.
//
// Instead of sending a block in tiles, the sender may announce the address of the whole block in a
// cache line, and the receiver reads the block in one copy. The sender marks its choice in the
// flag. A receiver that would have to read many announced blocks may instead announce where a block
// is to be stored; the sender then writes it there, in parallel with other senders. At the end both
// ranks know whether the copy succeeded.
//
// If both ranks send the same amount, they may use their cells in ping-pong: a rank that has read a
// cell fills it next, while its lines are cached, and need not check whether the cell is free.
//
// The first tile of a block carries the block's size. If the receiver expects another size, it
// discards the whole block, so that all flags end up in a consistent state.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/context/context.h"
#include "runtime/node/exposures.h"
#include "runtime/node/lines.h"
#include "runtime/node/pair_plan.h"

namespace huddle::node {

class PairChannels {
 public:
  // A received block whose size was not the expected one.
  struct SizeMismatch {
    int peer = 0;
    std::size_t sent_bytes = 0;
    std::size_t expected_bytes = 0;
  };

  // Requires: all words of shared memory hold `start`, and `start` is even.
  PairChannels(const PairParameters& parameters, int ranks, context::Sequence start);

  std::size_t shared_bytes() const { return layout_.size(); }
  const Departures& departures() const { return departures_; }

  // Returns how many bytes a rank may have sent before its peer drains any of them.
  std::size_t bytes_ahead(const PairPlan& plan) const { return cells_ * plan.tile_bytes; }
  // Returns false once a direct copy of a block for `peer` has failed. Blocks for `peer` are then
  // sent in tiles.
  bool is_open(int peer) const { return channels_[static_cast<std::size_t>(peer)].is_open; }
  // Returns whether, since the last call of this function, this rank has announced a block or has
  // not received one that was announced to it.
  bool was_unsettled() { return std::exchange(is_unsettled_, false); }
  // Returns the first block of unexpected size since the last call of this function.
  std::optional<SizeMismatch> surprise() { return std::exchange(surprise_, std::nullopt); }

  // Returns whether the next tile can be filled without waiting, as far as this rank knows. With
  // ping-pong cells, a peer that sends tile n has drained tile n - cells, so the tiles received
  // also show its progress.
  bool has_room(const PairTurn& turn, const PairPlan& plan) {
    Channel& to_peer = channel(turn.out.peer);
    if (to_peer.is_to_and_fro && plan.returns()) {
      const context::Sequence ahead = turn.out.tiles_moved(plan) - turn.in.tiles_moved(plan);
      const context::Sequence told = to_peer.filled - one * (ahead + cells_);
      if (!context::reached(to_peer.known_drained, told)) to_peer.known_drained = told;
    }
    return context::reached(to_peer.known_drained, room_for(turn.out, plan));
  }

  // Return the flags for which a rank waits before it can fill the next cell (room) or drain it
  // (tile).
  context::AwaitedFlag room(const PairStream& out, int rank, const PairPlan& plan) {
    return {drained(out.peer, rank), context::until_reached(room_for(out, plan))};
  }
  context::AwaitedFlag tile(const PairStream& in, int rank) {
    const context::Sequence number = channel(in.peer).drained;
    return {line_of(in.peer, rank, number), context::until_reached(number + one)};
  }

  template <context::SingleCopyContext Ctx>
  void fill(Ctx& ctx, PairTurn& turn, const PairPlan& plan) {
    PairStream& out = turn.out;
    Channel& to_peer = channel(out.peer);
    const std::size_t bytes = out.next_bytes(plan);
    if (!has_room(turn, plan)) {
      to_peer.known_drained =
          ctx.wait(drained(out.peer, ctx.rank()), context::until_reached(room_for(out, plan)));
    }
    to_peer.is_to_and_fro = plan.returns();
    const Address line = line_of(ctx.rank(), out.peer, to_peer.filled);
    const Address from{Region::input, ctx.rank(), out.at()};
    if (out.is_announced) {
      ctx.expose(line + payload_offset, from);
      ctx.order_callers_stores();
      to_peer.is_announced = is_unsettled_ = true;
    } else {
      ctx.copy(place_of(out, ctx.rank(), out.peer, to_peer.filled, plan), from, bytes,
               plan.method->in);
    }
    if (out.moved == 0) ctx.store(line + size_offset, size_word(out.block.bytes));
    ctx.store(line, flag(to_peer.filled += one, out.is_announced));
    out.moved += bytes;
  }

  template <context::SingleCopyContext Ctx>
  void drain(Ctx& ctx, PairStream& in, const PairPlan& plan) {
    const Channel& from_peer = channel(in.peer);
    const Address line = line_of(in.peer, ctx.rank(), from_peer.drained);
    const context::Sequence seen = ctx.wait(line, context::until_reached(from_peer.drained + one));
    const context::Sequence sent_size = in.moved == 0 ? ctx.load(line + size_offset) : 0;
    drain_seen(ctx, in, seen, sent_size, plan);
  }

  // Drains a tile whose flag is `seen`. The first tile of a block contains the block's size,
  // `sent_size`, which has no meaning for later tiles.
  template <context::SingleCopyContext Ctx>
  void drain_seen(Ctx& ctx, PairStream& in, context::Sequence seen, context::Sequence sent_size,
                  const PairPlan& plan) {
    Channel& from_peer = channel(in.peer);
    in.is_announced = is_marked(seen);
    if (in.moved == 0) expect(in, sent_size);
    const std::size_t bytes = in.next_bytes(plan);
    const bool is_whole = in.is_unwanted || take(ctx, in, bytes, plan);
    ctx.store(drained(ctx.rank(), in.peer), flag(from_peer.drained += one, !is_whole));
    if (!is_whole) is_unsettled_ = true;
    in.moved += bytes;
  }

  // Sends a block that fits behind a flag, in the same way as fill(), but in far fewer
  // instructions. Those of fill() would take as long as the transfer itself.
  template <context::SingleCopyContext Ctx>
  void send_short(Ctx& ctx, int peer, const Block& block) {
    Channel& to_peer = channel(peer);
    const context::Sequence needed = room_for(to_peer, false, lines_);
    if (!context::reached(to_peer.known_drained, needed)) {
      to_peer.known_drained = ctx.wait(drained(peer, ctx.rank()), context::until_reached(needed));
    }
    to_peer.is_to_and_fro = false;
    const Address line = line_of(ctx.rank(), peer, to_peer.filled);
    ctx.copy(line + payload_offset,
             {Region::input, ctx.rank(), static_cast<std::size_t>(block.offset)}, block.bytes,
             memory::CopyKernel::plain);
    ctx.store(line + size_offset, size_word(block.bytes));
    ctx.store(line, to_peer.filled += one);
  }

  // Receives a block that is expected to fit behind a flag. Handles any block that the peer sends.
  template <context::SingleCopyContext Ctx>
  void receive_short(Ctx& ctx, int peer, const Block& block, const PairPlan& plan) {
    Channel& from_peer = channel(peer);
    const Address line = line_of(peer, ctx.rank(), from_peer.drained);
    const context::Sequence next = from_peer.drained + one;
    const context::Sequence seen = ctx.wait(line, context::until_reached(next));
    const context::Sequence sent_size = ctx.load(line + size_offset);
    if (is_marked(seen) || sent_size != size_word(block.bytes)) {
      PairStream in{peer, block};
      drain_seen(ctx, in, seen, sent_size, plan);
      while (in.bytes_left() > 0) drain(ctx, in, plan);
      return;
    }
    ctx.copy({Region::output, ctx.rank(), static_cast<std::size_t>(block.offset)},
             line + payload_offset, block.bytes, memory::CopyKernel::plain);
    ctx.store(drained(ctx.rank(), peer), from_peer.drained = next);
  }

  // Completes a turn with ping-pong cells. Both ranks count the tiles exchanged this way
  // identically, including those of blocks of an unexpected size. If the two ranks sent different
  // numbers of tiles, waits until the peer has drained all of them.
  template <context::SingleCopyContext Ctx>
  void finish_ping_pong_turn(Ctx& ctx, const PairTurn& turn, const PairPlan& plan) {
    Channel& between = channel(turn.out.peer);
    const context::Sequence sent = turn.out.tiles_moved(plan);
    const context::Sequence came = turn.in.tiles_moved(plan);
    between.exchanged += std::max(sent, came);
    if (sent == came) return;
    between.known_drained =
        ctx.wait(drained(turn.out.peer, ctx.rank()), context::until_reached(between.filled));
  }

  // Waits until the peer has handled the block that this rank has announced, if any, and writes the
  // block if the peer has requested that. Returns whether the block could be neither read nor
  // written.
  template <context::SingleCopyContext Ctx>
  bool direct_copy_failed(Ctx& ctx, const PairStream& out) {
    Channel& to_peer = channel(out.peer);
    if (!std::exchange(to_peer.is_announced, false)) return false;
    const Address drained_flag = drained(out.peer, ctx.rank());
    const context::Sequence seen = ctx.wait(drained_flag, context::until_reached(to_peer.filled));
    if (!is_marked(seen)) return false;
    const auto answer = static_cast<Answer>(ctx.load(drained_flag + answer_offset));
    to_peer.is_open = answer == Answer::to_be_written && write(ctx, out);
    return !to_peer.is_open;
  }

  // If this rank has requested that the peer write its announced block, waits for that. Returns
  // whether the block that the peer announced has not arrived and will be sent in tiles.
  template <context::SingleCopyContext Ctx>
  bool is_missing(Ctx& ctx, int peer) {
    Channel& from_peer = channel(peer);
    if (!std::exchange(from_peer.is_being_written, false)) {
      return std::exchange(from_peer.is_missing, false);
    }
    const Address line = line_of(peer, ctx.rank(), from_peer.drained);
    const context::Sequence seen = ctx.wait(line, context::until_reached(from_peer.drained + one));
    ctx.store(drained(ctx.rank(), peer), from_peer.drained += one);
    return is_marked(seen);
  }

  // Prefetches the cells that this rank fills next, after it has sent a whole block.
  template <context::SingleCopyContext Ctx>
  void prefetch_cells(Ctx& ctx, const PairStream& out, const PairPlan& plan) {
    const std::size_t bytes = std::min(plan.tile_bytes, out.block.bytes);
    if (out.is_announced || fits_behind_flag(bytes)) return;
    const context::Sequence next = channel(out.peer).filled / one;
    const context::Sequence cells = asked_ahead(out.tiles_moved(plan), cells_);
    for (context::Sequence cell = 0; cell < cells; ++cell) {
      ctx.prefetch_write(cell_of(ctx.rank(), out.peer, next + cell), bytes);
    }
  }
  // Returns how many of `cells` cells to prefetch after sending `tiles` tiles: those that the
  // sender has not just filled, because the others are not drained yet.
  static context::Sequence asked_ahead(context::Sequence tiles, context::Sequence cells);

 private:
  // State of the two channels between this rank and a peer.
  struct Channel {
    context::Sequence filled = 0;         // by this rank, for the peer
    context::Sequence known_drained = 0;  // of those, by the peer, as far as this rank knows
    context::Sequence drained = 0;        // by this rank, from the peer
    // State of the current call: whether this rank has announced a block; whether it could not read
    // the peer's announced block, or has requested that the peer write it.
    bool is_announced = false;
    bool is_missing = false;
    bool is_being_written = false;
    bool is_open = true;
    // State of ping-pong cells: whether this rank's last tiles used them, and how many tiles have;
    // the peer has the same count.
    bool is_to_and_fro = false;
    context::Sequence exchanged = 0;
  };
  Channel& channel(int peer) { return channels_[static_cast<std::size_t>(peer)]; }

  // Flags advance by two, because the lowest bit is a mark. In the flag of filled cells it means
  // that the last one holds an announcement, or that a block could not be written; in the flag of
  // drained cells it means that the last one was not read and that an answer is stored next to the
  // flag.
  static constexpr context::Sequence one = 2;
  static constexpr context::Sequence mark = 1;
  static context::Sequence flag(context::Sequence number, bool marked) {
    return marked ? number + mark : number;
  }
  static bool is_marked(context::Sequence flag) { return flag % one == mark; }

  // The receiver's answer, stored next to its marked flag.
  enum class Answer : context::Sequence { unreadable, to_be_written };

  // Returns the progress of the peer that is needed before the next tile can be filled. When
  // ping-pong begins or ends, all cells must be empty; in between, a rank fills each cell every
  // other time.
  context::Sequence room_for(const PairStream& out, const PairPlan& plan) {
    const bool is_in_line = out.is_announced || fits_behind_flag(out.next_bytes(plan));
    const context::Sequence cells = plan.returns() ? std::min(2 * cells_, lines_) : cells_;
    return room_for(channel(out.peer), plan.returns(), is_in_line ? lines_ : cells);
  }
  static context::Sequence room_for(const Channel& to_peer, bool returns,
                                    context::Sequence places) {
    if (to_peer.is_to_and_fro != returns) return to_peer.filled;
    return to_peer.filled + one - one * places;
  }

  // Returns the lower 32 bits of a block's size, which the first tile carries for comparison.
  static context::Sequence size_word(std::size_t bytes) {
    return static_cast<context::Sequence>(bytes);
  }
  void expect(PairStream& in, context::Sequence sent_size);

  // Copies the content of a cell or the block announced in it, or requests that the peer write the
  // block. Returns whether the data has arrived.
  template <context::SingleCopyContext Ctx>
  bool take(Ctx& ctx, const PairStream& in, std::size_t bytes, const PairPlan& plan) {
    const Address to{Region::output, ctx.rank(), in.at()};
    Channel& from_peer = channel(in.peer);
    if (!in.is_announced) {
      copy_out(ctx, to, place_of(in, in.peer, ctx.rank(), from_peer.drained, plan), bytes,
               plan.method, plan.results);
      return true;
    }
    const Address flag = drained(ctx.rank(), in.peer);
    if (plan.has_written(bytes)) {
      ctx.expose(flag + payload_offset, to);
      ctx.order_callers_stores();
      from_peer.is_being_written = true;
    } else {
      from_peer.is_missing = !read(ctx, in, to, bytes);
      if (!from_peer.is_missing) return true;
    }
    const auto answer = from_peer.is_being_written ? Answer::to_be_written : Answer::unreadable;
    ctx.store(flag + answer_offset, static_cast<context::Sequence>(answer));
    return false;
  }

  // Reads the block that the peer announced. Returns whether that succeeded.
  template <context::SingleCopyContext Ctx>
  bool read(Ctx& ctx, const PairStream& in, Address to, std::size_t bytes) {
    bool came = false;
    departures_.copying(ctx, in.peer, [&] {
      const Address line = line_of(in.peer, ctx.rank(), channel(in.peer).drained);
      came = ctx.pull(to, line + payload_offset, 0, bytes) == single_copy::fine;
    });
    return came;
  }

  // Writes a block to the address that the peer announced. Returns whether that succeeded, and
  // publishes this to the peer.
  template <context::SingleCopyContext Ctx>
  bool write(Ctx& ctx, const PairStream& out) {
    Channel& to_peer = channel(out.peer);
    bool went = false;
    departures_.copying(ctx, out.peer, [&] {
      const Address to = drained(out.peer, ctx.rank()) + payload_offset;
      went = ctx.push(to, 0, {Region::input, ctx.rank(), out.at()}, out.block.bytes) ==
             single_copy::fine;
    });
    const Address line = line_of(ctx.rank(), out.peer, to_peer.filled);
    ctx.store(line, flag(to_peer.filled += one, !went));
    return went;
  }

  // Offsets of words between a flag and its payload.
  static constexpr std::size_t size_offset = flag_bytes;
  static constexpr std::size_t answer_offset = flag_bytes;

  // Return the addresses of cache lines and cells that `owner` keeps for a peer.
  Address line_of(int owner, int peer, context::Sequence number) const {
    const auto line = static_cast<std::size_t>(peer) * lines_ + (number / one & (lines_ - 1));
    return {Region::shared, owner, lines_offset_ + line * false_sharing_bytes};
  }
  Address cell_of(int owner, int peer, context::Sequence tile) const {
    const auto cell = static_cast<std::size_t>(peer) * cells_ + (tile & (cells_ - 1));
    return {Region::shared, owner, cells_offset_ + cell * cell_stride_};
  }
  Address drained(int owner, int peer) const {
    return {Region::shared, owner,
            drained_offset_ + static_cast<std::size_t>(peer) * false_sharing_bytes};
  }
  // Returns the address of a stream's next tile. `number` counts all tiles from writer to reader.
  Address place_of(const PairStream& way, int writer, int reader, context::Sequence number,
                   const PairPlan& plan) {
    if (fits_behind_flag(way.next_bytes(plan))) {
      return line_of(writer, reader, number) + payload_offset;
    }
    if (!plan.returns()) return cell_of(writer, reader, number / one);
    const context::Sequence tile = channel(way.peer).exchanged + way.tiles_moved(plan);
    const int holder = holder_of(plan.method->ownership, writer, reader, tile, cells_);
    return cell_of(holder, holder == writer ? reader : writer, tile);
  }

  context::Sequence cells_;  // a power of two
  context::Sequence lines_;  // a power of two
  std::size_t cell_stride_;
  SharedLayout layout_;
  Departures departures_;
  std::size_t drained_offset_;
  std::size_t lines_offset_;
  std::size_t cells_offset_;
  std::vector<Channel> channels_;  // by peer
  bool is_unsettled_ = false;
  std::optional<SizeMismatch> surprise_;
};

}  // namespace huddle::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Every rank has a block for every other: all-to-all, and what is part of it, gather and scatter.
// After Zhang, Meng and Huo: ranks exchange pair by pair, each exchange cut into tiles that are
// read while they are still in the cache that both share.
//
// Each pair has a channel of its own each way: a few cells in the sender's memory, filled and
// drained in turn, and more lines for their flags and for what fits behind a flag. What a pair
// exchanges only the two know, and nothing else has to be known; so blocks may be of any sizes, and
// those of no bytes take no time.
//
// A line may say, in place of a tile, where a whole block lies: its receiver reads it there, in
// one copy. Which of the two it is the sender decides, and says in the flag. Where one receiver
// would read what many have announced, it may say where a block is to go: then its sender writes it
// there, while others write theirs.
// What could not be read or written comes in tiles after all; only the two know, and nobody's call
// fails.
//
// Where both of a pair have as much for each other their cells may go to and fro: whoever has read
// a cell fills it next, with lines that it has at hand, and nobody asks whether there is room.
//
// With the first that comes of a block comes how large it is. Where its receiver expects something
// else it lets all of it pass, and its call fails then: only that rank's, as between a sender and a
// receiver of messages, and all flags stand where they have to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "memory/passing.h"
#include "node/blocks.h"
#include "node/copy_out.h"
#include "node/departures.h"
#include "node/lines.h"
#include "node/own_block.h"
#include "world/world.h"

namespace huddle::node {

class PairExchange {
 public:
  struct Parameters {
    std::size_t tile_bytes = 16384;  // the most that a cell holds
    int cells = 4;                   // of a channel; a power of two, 2 or more
    // Of a channel, for flags; a power of two, not fewer than cells. With more of them a sender of
    // little asks less often how far its receiver is, which costs as much as what it sends.
    int lines = 8;
  };
  // In which order a rank meets the others.
  enum class Order : std::uint8_t {
    // Both of a pair turn to each other at the same time: blocks may be exchanged in place.
    paired,
    // Each sends to the next but so many, and receives from the one before by as many.
    staggered,
    // Each fills the cells for everybody, and goes on with whichever peer is ready: nobody waits
    // for one while others have something. In place, too.
    as_ready,
  };
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  // What may differ from call to call; equal on all ranks but for what is the sender's own matter.
  struct Plan {
    std::size_t tile_bytes = 16384;  // not over that of the parameters
    Order order = Order::paired;
    // Of what comes in tiles: returned, where what a pair exchanges is equal both ways, which turn
    // to each other at the same time; asked for by whoever gets nothing for what it sends.
    memory::Passing passing = {};
    memory::CopyKernel results = memory::CopyKernel::plain;  // by which they are written...
    std::size_t past_caches_from = never;  // ...and past the caches where a rank gets so much
    // The sender's: blocks of so many bytes are announced, for the receiver to read.
    std::size_t announced_from = never;
    std::size_t announced_up_to = never;
    // The receiver's: of those that are announced, blocks of so many bytes are written by their
    // senders.
    std::size_t written_from = never;
    std::size_t written_up_to = never;

    bool announces(std::size_t bytes) const {
      return announced_from <= bytes && bytes <= announced_up_to;
    }
    bool has_written(std::size_t bytes) const {
      return written_from <= bytes && bytes <= written_up_to;
    }
  };

  // pre: shared memory holds `start` everywhere, and that is even.
  PairExchange(const Parameters& parameters, int ranks, world::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }

  // Sends the outgoing blocks of the input, and fills the incoming ones of the output. What two
  // ranks say of a block has to agree in its bytes. In place, that is where a rank's block for
  // another lies where that one's is to be put, the order must not be `staggered`; a rank's block
  // for itself is then not touched. Throws world::SizesDiffer where a block came that is larger or
  // smaller than this rank says.
  template <world::SingleCopyWorld W>
  void run(W& w, const Blocks& outgoing, const Blocks& incoming, bool in_place, const Plan& plan) {
    const Plan of_call = with_results(plan, incoming, w.ranks());
    departures_.leaving_if_thrown(w, [&] { exchange(w, outgoing, incoming, in_place, of_call); });
    if (const auto surprise = std::exchange(surprise_, std::nullopt)) fail(*surprise, w.rank());
  }

  // For how many cells a sender of so many tiles asks ahead.
  static world::Sequence asked_ahead(world::Sequence tiles, world::Sequence cells);
  static Plan with_results(const Plan& plan, const Blocks& incoming, int ranks);
  static int target(int rank, int ranks, int step, Order order);
  static int source(int rank, int ranks, int step, Order order);

 private:
  // What is left of a block on its way to or from a peer.
  struct Stream {
    int peer = 0;
    Block block;
    std::size_t moved = 0;
    bool is_announced = false;
    bool is_unwanted = false;  // for its receiver expects another size

    std::size_t bytes_left() const { return block.bytes - moved; }
    std::size_t next_bytes(const Plan& plan) const {
      return is_announced ? bytes_left() : std::min(plan.tile_bytes, bytes_left());
    }
    std::size_t at() const { return static_cast<std::size_t>(block.offset) + moved; }
    // How many tiles came before the next one.
    world::Sequence tiles_moved(const Plan& plan) const {
      return static_cast<world::Sequence>((moved + plan.tile_bytes - 1) / plan.tile_bytes);
    }
  };
  static Stream stream(int rank, int peer, const Blocks& blocks) {
    return {peer, peer == rank ? Block{} : blocks.of(peer)};
  }
  struct Turn {
    Stream out;
    Stream in;

    bool is_left() const { return out.bytes_left() > 0 || in.bytes_left() > 0; }
  };
  // A block that came, and what was expected.
  struct Surprise {
    int peer = 0;
    std::size_t sent_bytes = 0;
    std::size_t expected_bytes = 0;
  };
  [[noreturn]] static void fail(const Surprise& surprise, int rank);

  template <world::SingleCopyWorld W>
  void exchange(W& w, const Blocks& outgoing, const Blocks& incoming, bool in_place,
                const Plan& plan) {
    // A rank moves its own block while what it has sent is on its way; or last, where others write
    // meanwhile what they are told to.
    const bool is_own_last = plan.written_from != never;
    const auto move_own_unless = [&](bool is_moved) {
      if (in_place || is_moved) return;
      move_own(w, outgoing.of(w.rank()), incoming.of(w.rank()), plan.results);
    };
    const auto outgoing_at = [&](int step) {
      Stream out = stream(w.rank(), target(w.rank(), w.ranks(), step, plan.order), outgoing);
      // What the peer's block is to replace cannot wait where it is.
      const bool stays = !in_place || incoming.of(out.peer).bytes == 0;
      out.is_announced = plan.announces(out.block.bytes) && stays && channel(out.peer).is_open;
      return out;
    };
    for (int step = 0; step < w.ranks(); ++step) {
      Turn& turn = turns_[static_cast<std::size_t>(step)];
      turn.out = outgoing_at(step);
      turn.in = stream(w.rank(), source(w.rank(), w.ranks(), step, plan.order), incoming);
    }
    fill_ahead(w, plan);
    move_own_unless(is_own_last);
    move_all(w, plan);
    if (returns(plan)) go_on_in_step(w, plan);
    move_own_unless(!is_own_last);
    if (std::exchange(is_unsettled_, false)) settle(w, plan);
    if (plan.passing.lines == memory::Lines::asked) ask_ahead(w, plan);
  }

  // How far a channel is, each way.
  struct Channel {
    world::Sequence filled = 0;         // by this rank, for the peer
    world::Sequence known_drained = 0;  // of those, by the peer, as far as this rank knows
    world::Sequence drained = 0;        // by this rank, of the peer's
    // Of the call at hand: whether this rank has announced something, and whether it could not read
    // what the peer has, or has told the peer to write it.
    bool is_announced = false;
    bool is_missing = false;
    bool is_being_written = false;
    // Whether the peer can read this rank's memory, or be written to, as far as this rank knows.
    bool is_open = true;
    // Of cells that go to and fro: whether this rank's last tiles went so, and how many have, which
    // the peer counts alike.
    bool is_to_and_fro = false;
    world::Sequence exchanged = 0;
  };
  Channel& channel(int peer) { return channels_[static_cast<std::size_t>(peer)]; }

  // Flags go up by two, for their lowest bit says something of what they count: of a cell that is
  // filled, that it holds an announcement; of one that is drained, that this was not read, and then
  // there is an answer with it. After that, of what was written, that it could not be.
  static constexpr world::Sequence one = 2;
  static constexpr world::Sequence mark = 1;
  static world::Sequence flag(world::Sequence number, bool marked) {
    return marked ? number + mark : number;
  }
  static bool is_marked(world::Sequence flag) { return flag % one == mark; }

  // In the line of a flag, for whoever finds it marked.
  enum class Answer : world::Sequence { unreadable, to_be_written };

  // What can go before anything else: as in the turns, but that nobody is waited for.
  template <world::SingleCopyWorld W>
  void fill_ahead(W& w, const Plan& plan) {
    if (plan.order == Order::as_ready) {
      for (Turn& turn : turns_) fill_what_has_room(w, turn, plan);
      return;
    }
    const auto first =
        std::find_if(turns_.begin(), turns_.end(), [](const Turn& turn) { return turn.is_left(); });
    if (first == turns_.end() || first->out.bytes_left() == 0) return;
    if (has_room(*first, plan)) fill(w, *first, plan);
  }

  template <world::SingleCopyWorld W>
  void move_all(W& w, const Plan& plan) {
    if (plan.order == Order::as_ready) {
      move_as_ready(w, plan);
    } else {
      for (Turn& turn : turns_) move(w, turn, plan);
    }
  }

  // A tile is filled before one is drained: so nobody waits in a circle, and what is sent in place
  // is gone before anything takes its place.
  template <world::SingleCopyWorld W>
  void move(W& w, Turn& turn, const Plan& plan) {
    while (turn.is_left()) {
      if (turn.out.bytes_left() > 0) fill(w, turn, plan);
      if (turn.in.bytes_left() > 0) drain(w, turn.in, plan);
    }
  }

  // Nobody waits in a circle here either. Of two that both wait to fill, both channels would be
  // full, and each rank a whole one ahead; of two that both wait to drain, neither would have
  // filled. And what a rank has filled is ahead of what it has drained: so this holds in place,
  // too.
  template <world::SingleCopyWorld W>
  void move_as_ready(W& w, const Plan& plan) {
    for (Turn& turn : turns_) {
      fill_what_has_room(w, turn, plan);
      if (!turn.is_left()) continue;
      moving_.push_back(&turn);
      awaited_.push_back(next_of(turn, w.rank(), plan));
    }
    while (!moving_.empty()) {
      const int found = w.wait_any(awaited_);
      Turn& turn = *moving_[static_cast<std::size_t>(found)];
      if (fills_next(turn, plan)) {
        fill(w, turn, plan);
      } else {
        drain(w, turn.in, plan);
      }
      fill_what_has_room(w, turn, plan);
      if (turn.is_left()) {
        awaited_[static_cast<std::size_t>(found)] = next_of(turn, w.rank(), plan);
      } else {
        moving_.erase(moving_.begin() + found);
        awaited_.erase(awaited_.begin() + found);
      }
    }
  }
  // Whether a rank turns to what it sends: it is never more than a channel ahead of what comes.
  bool fills_next(const Turn& turn, const Plan& plan) const {
    const std::size_t channel_bytes = cells_ * plan.tile_bytes;
    return turn.out.bytes_left() > 0 &&
           (turn.in.bytes_left() == 0 || turn.out.moved < turn.in.moved + channel_bytes);
  }
  template <world::SingleCopyWorld W>
  void fill_what_has_room(W& w, Turn& turn, const Plan& plan) {
    while (fills_next(turn, plan) && has_room(turn, plan)) fill(w, turn, plan);
  }
  world::Awaited next_of(const Turn& turn, int rank, const Plan& plan) {
    if (fills_next(turn, plan)) {
      return {drained(turn.out.peer, rank), world::until_reached(room_for(turn.out, plan))};
    }
    const world::Sequence number = channel(turn.in.peer).drained;
    return {line_of(turn.in.peer, rank, number), world::until_reached(number + one)};
  }

  // Both of a pair count what went to and fro, alike: what one of them did not expect, too, and
  // then all of it is drained before there is more.
  template <world::SingleCopyWorld W>
  void go_on_in_step(W& w, const Plan& plan) {
    for (const auto& [out, in] : turns_) {
      Channel& between = channel(out.peer);
      const world::Sequence sent = out.tiles_moved(plan);
      const world::Sequence came = in.tiles_moved(plan);
      between.exchanged += std::max(sent, came);
      if (sent == came) continue;
      between.known_drained =
          w.wait(drained(out.peer, w.rank()), world::until_reached(between.filled));
    }
  }

  // What was announced has to stay until it has been read, or has been written. What could not be
  // comes now, in the same turns. All has been written before anything written is waited for: so
  // nobody waits in a circle.
  template <world::SingleCopyWorld W>
  void settle(W& w, const Plan& plan) {
    for (Turn& turn : turns_) {
      start_again(turn.out);
      if (!was_in_vain(w, turn.out)) turn.out.moved = turn.out.block.bytes;
    }
    for (Turn& turn : turns_) {
      start_again(turn.in);
      if (!is_missing(w, turn.in.peer)) turn.in.moved = turn.in.block.bytes;
    }
    move_all(w, plan);
  }

  // By a rank that got nothing: nobody waits for it, and those that it has sent to read meanwhile.
  template <world::SingleCopyWorld W>
  void ask_ahead(W& w, const Plan& plan) {
    const bool has_read = std::any_of(turns_.begin(), turns_.end(),
                                      [](const Turn& turn) { return turn.in.block.bytes > 0; });
    if (has_read) return;
    for (const Turn& turn : turns_) {
      const Stream& out = turn.out;
      const std::size_t bytes = std::min(plan.tile_bytes, out.block.bytes);
      if (out.is_announced || fits_behind_flag(bytes)) continue;
      const world::Sequence next = channel(out.peer).filled / one;
      const world::Sequence cells = asked_ahead(out.tiles_moved(plan), cells_);
      for (world::Sequence cell = 0; cell < cells; ++cell) {
        w.prefetch_write(cell_of(w.rank(), out.peer, next + cell), bytes);
      }
    }
  }

  static void start_again(Stream& way) {
    way.moved = 0;
    way.is_announced = false;
  }

  // Whether something was announced that the peer could not read, nor this rank write.
  template <world::SingleCopyWorld W>
  bool was_in_vain(W& w, const Stream& out) {
    Channel& to_peer = channel(out.peer);
    if (!std::exchange(to_peer.is_announced, false)) return false;
    const Place drained_flag = drained(out.peer, w.rank());
    const world::Sequence seen = w.wait(drained_flag, world::until_reached(to_peer.filled));
    if (!is_marked(seen)) return false;
    const auto answer = static_cast<Answer>(w.load(drained_flag + answer_offset));
    to_peer.is_open = answer == Answer::to_be_written && write(w, out);
    return !to_peer.is_open;
  }

  // To where the peer has said. Whether that went well; the peer is told.
  template <world::SingleCopyWorld W>
  bool write(W& w, const Stream& out) {
    Channel& to_peer = channel(out.peer);
    bool went = false;
    departures_.copying(w, out.peer, [&] {
      const Place to = drained(out.peer, w.rank()) + payload_offset;
      went = w.push(to, 0, {Region::input, w.rank(), out.at()}, out.block.bytes) == path::fine;
    });
    const Place line = line_of(w.rank(), out.peer, to_peer.filled);
    w.store(line, flag(to_peer.filled += one, !went));
    return went;
  }

  // Whether what the peer has announced is still to come.
  template <world::SingleCopyWorld W>
  bool is_missing(W& w, int peer) {
    Channel& from_peer = channel(peer);
    if (!std::exchange(from_peer.is_being_written, false)) {
      return std::exchange(from_peer.is_missing, false);
    }
    const Place line = line_of(peer, w.rank(), from_peer.drained);
    const world::Sequence seen = w.wait(line, world::until_reached(from_peer.drained + one));
    w.store(drained(w.rank(), peer), from_peer.drained += one);
    return is_marked(seen);
  }

  static bool returns(const Plan& plan) { return plan.passing.lines == memory::Lines::returned; }

  // How far the peer has to be before there is room for what is next. Where cells begin or cease to
  // go to and fro, nothing is in any of them any more; then each is this rank's every other time.
  world::Sequence room_for(const Stream& out, const Plan& plan) {
    const Channel& to_peer = channel(out.peer);
    if (to_peer.is_to_and_fro != returns(plan)) return to_peer.filled;
    const bool is_in_line = out.is_announced || fits_behind_flag(out.next_bytes(plan));
    const world::Sequence cells = returns(plan) ? std::min(2 * cells_, lines_) : cells_;
    return to_peer.filled + one - one * (is_in_line ? lines_ : cells);
  }
  // As far as this rank knows. Of cells that go to and fro the peer has not filled one before it
  // had drained the one a channel before: so what came from there tells.
  bool has_room(const Turn& turn, const Plan& plan) {
    Channel& to_peer = channel(turn.out.peer);
    if (to_peer.is_to_and_fro && returns(plan)) {
      const world::Sequence ahead = turn.out.tiles_moved(plan) - turn.in.tiles_moved(plan);
      const world::Sequence told = to_peer.filled - one * (ahead + cells_);
      if (!world::reached(to_peer.known_drained, told)) to_peer.known_drained = told;
    }
    return world::reached(to_peer.known_drained, room_for(turn.out, plan));
  }

  template <world::SingleCopyWorld W>
  void fill(W& w, Turn& turn, const Plan& plan) {
    Stream& out = turn.out;
    Channel& to_peer = channel(out.peer);
    const std::size_t bytes = out.next_bytes(plan);
    if (!has_room(turn, plan)) {
      to_peer.known_drained =
          w.wait(drained(out.peer, w.rank()), world::until_reached(room_for(out, plan)));
    }
    to_peer.is_to_and_fro = returns(plan);
    const Place line = line_of(w.rank(), out.peer, to_peer.filled);
    const Place from{Region::input, w.rank(), out.at()};
    if (out.is_announced) {
      w.expose(line + payload_offset, from);
      to_peer.is_announced = is_unsettled_ = true;
    } else {
      w.copy(place_of(out, w.rank(), out.peer, to_peer.filled, plan), from, bytes, plan.passing.in);
    }
    if (out.moved == 0) w.store(line + size_offset, size_word(out.block.bytes));
    w.store(line, flag(to_peer.filled += one, out.is_announced));
    out.moved += bytes;
  }

  template <world::SingleCopyWorld W>
  void drain(W& w, Stream& in, const Plan& plan) {
    Channel& from_peer = channel(in.peer);
    const Place line = line_of(in.peer, w.rank(), from_peer.drained);
    in.is_announced = is_marked(w.wait(line, world::until_reached(from_peer.drained + one)));
    if (in.moved == 0) expect(in, w.load(line + size_offset));
    const std::size_t bytes = in.next_bytes(plan);
    const bool is_whole = in.is_unwanted || take(w, in, bytes, plan);
    w.store(drained(w.rank(), in.peer), flag(from_peer.drained += one, !is_whole));
    if (!is_whole) is_unsettled_ = true;
    in.moved += bytes;
  }

  // The size that was told, of which one word is enough to tell it from another.
  static world::Sequence size_word(std::size_t bytes) {
    return static_cast<world::Sequence>(bytes);
  }
  void expect(Stream& in, world::Sequence told) {
    if (told == size_word(in.block.bytes)) return;
    const std::size_t sent = in.block.bytes - size_word(in.block.bytes) + told;
    if (!surprise_) surprise_ = {in.peer, sent, in.block.bytes};
    in.block.bytes = sent;
    in.is_unwanted = true;
  }

  // What is in a cell, or announced there. Whether it is there now.
  template <world::SingleCopyWorld W>
  bool take(W& w, const Stream& in, std::size_t bytes, const Plan& plan) {
    const Place to{Region::output, w.rank(), in.at()};
    Channel& from_peer = channel(in.peer);
    if (!in.is_announced) {
      copy_out(w, to, place_of(in, in.peer, w.rank(), from_peer.drained, plan), bytes, plan.passing,
               plan.results);
      return true;
    }
    const Place flag = drained(w.rank(), in.peer);
    if (plan.has_written(bytes)) {
      w.expose(flag + payload_offset, to);
      from_peer.is_being_written = true;
    } else {
      from_peer.is_missing = !read(w, in, to, bytes);
      if (!from_peer.is_missing) return true;
    }
    const auto answer = from_peer.is_being_written ? Answer::to_be_written : Answer::unreadable;
    w.store(flag + answer_offset, static_cast<world::Sequence>(answer));
    return false;
  }
  template <world::SingleCopyWorld W>
  bool read(W& w, const Stream& in, Place to, std::size_t bytes) {
    bool came = false;
    departures_.copying(w, in.peer, [&] {
      const Place line = line_of(in.peer, w.rank(), channel(in.peer).drained);
      came = w.pull(to, line + payload_offset, 0, bytes) == path::fine;
    });
    return came;
  }

  // Behind flags, before payloads.
  static constexpr std::size_t size_offset = flag_bytes;
  static constexpr std::size_t answer_offset = flag_bytes;

  // What `owner` keeps for a peer.
  Place line_of(int owner, int peer, world::Sequence number) const {
    const auto line = static_cast<std::size_t>(peer) * lines_ + number / one % lines_;
    return {Region::shared, owner, lines_offset_ + line * apart_bytes};
  }
  Place cell_of(int owner, int peer, world::Sequence tile) const {
    const auto cell = static_cast<std::size_t>(peer) * cells_ + tile % cells_;
    return {Region::shared, owner, cells_offset_ + cell * cell_stride_};
  }
  // Where the next tile of a stream lies, of which `number` counts all from writer to reader.
  Place place_of(const Stream& way, int writer, int reader, world::Sequence number,
                 const Plan& plan) const {
    if (fits_behind_flag(way.next_bytes(plan))) {
      return line_of(writer, reader, number) + payload_offset;
    }
    if (!returns(plan)) return cell_of(writer, reader, number / one);
    const Channel& between = channels_[static_cast<std::size_t>(way.peer)];
    const world::Sequence tile = between.exchanged + way.tiles_moved(plan);
    const int holder = holder_of(plan.passing.lines, writer, reader, tile, cells_);
    return cell_of(holder, holder == writer ? reader : writer, tile);
  }
  Place drained(int owner, int peer) const {
    return {Region::shared, owner, drained_offset_ + static_cast<std::size_t>(peer) * apart_bytes};
  }

  world::Sequence cells_;
  world::Sequence lines_;
  std::size_t cell_stride_;
  Carver carver_;
  Departures departures_;
  std::size_t drained_offset_;
  std::size_t lines_offset_;
  std::size_t cells_offset_;
  std::vector<Channel> channels_;  // by peer
  std::vector<Turn> turns_;        // of this call
  // Whom this rank goes on with, and what it waits for of each. Empty between calls, unless
  // somebody was lost in the middle of one; then nothing is exchanged any more.
  std::vector<Turn*> moving_;
  std::vector<world::Awaited> awaited_;
  // Whether this call has announced something, or has something still to come.
  bool is_unsettled_ = false;
  std::optional<Surprise> surprise_;  // the first of this call
};

}  // namespace huddle::node

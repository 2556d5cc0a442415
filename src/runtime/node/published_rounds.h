// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Rounds in which ranks publish data in their own memory. Every rank sets a flag in every round,
// even if it publishes nothing. The flag also confirms that the rank has read the data of earlier
// rounds, so that no other counters are needed. Small data are stored behind the flag, in one of
// several cache lines, and large data in one of four slots.
#pragma once

#include <algorithm>

#include "runtime/context/context.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/lines.h"

namespace huddle::node {

class PublishedRounds {
 public:
  struct Parameters {
    std::size_t capacity_bytes = most_in_line;  // of a slot
    // number of cache lines for flags; a power of two, so that indices stay consistent when
    // counters wrap around
    context::Sequence lines = 16;
  };
  struct Round {
    context::Sequence number = 0;  // counted over the rounds of all calls
    std::size_t offset = 0;        // in the caller's data
    std::size_t bytes = 0;
    memory::LineOwnership lines = memory::LineOwnership::readers_share;

    bool is_in_line() const { return fits_behind_flag(bytes); }
  };
  // The ranks that read what others publish: all, or one rank, which then publishes nothing.
  using Reader = int;
  static constexpr Reader all_ranks = -1;
  // The data of a call, which all ranks cut into the same rounds.
  struct Data {
    std::size_t bytes = 0;
    std::size_t round_bytes = most_in_line;  // at most the capacity
    memory::LineOwnership lines = memory::LineOwnership::readers_share;
    Reader reader = all_ranks;
  };

  // Requires: the flags, at the beginning of shared memory, hold `start`.
  PublishedRounds(const Parameters& parameters, context::Sequence start)
      : lines_(parameters.lines),
        slot_stride_(round_up(parameters.capacity_bytes, false_sharing_bytes)),
        last_(start),
        seen_(start) {}

  std::size_t shared_bytes() const { return slots_at() + slots * slot_stride_; }
  std::size_t flags_bytes() const { return slots_at(); }
  std::size_t slot_stride() const { return slot_stride_; }

  // Calls show(round) and then take(round) for each round of a call. The next round is shown before
  // the current one is taken. show() calls publish(), or publish_nothing() if the rank has no data.
  template <class Show, class Take>
  void run(const Data& data, Show show, Take take) {
    if (data.bytes == 0) return;
    if (data.reader != reader_) change_reader(data.reader);
    Round round = round_at(data, 0);
    show(round);
    while (data.bytes - round.offset > data.round_bytes) {
      const Round next = round_at(data, round.offset + data.round_bytes);
      show(next);
      take(round);
      round = next;
    }
    take(round);
  }

  // Publishes this rank's data, which write(address) stores.
  template <context::Context Ctx, class Write>
  void publish(Ctx& ctx, const Round& round, Write write) {
    make_room(ctx, round);
    write(data_of(ctx.rank(), round));
    ctx.store_stamped(line_of(ctx.rank(), round.number), round.number);
    empty_lines_ = 0;
  }
  // Does not wait if the last rounds had no data either, because no rank then waits for the flag
  // that is replaced.
  template <context::Context Ctx>
  void publish_nothing(Ctx& ctx, const Round& round) {
    if (empty_lines_ < lines_) {
      make_room_in_line(ctx, round.number);
      ++empty_lines_;
    } else {
      keep_comparable(round.number);
    }
    ctx.store_stamped(line_of(ctx.rank(), round.number), round.number);
  }

  // Blocks until `rank` has published a round, and returns the address of its data.
  template <context::Context Ctx>
  Address published(Ctx& ctx, int rank, const Round& round) const {
    ctx.wait_stamped(line_of(rank, round.number), context::until_reached(round.number));
    return data_of(rank, round);
  }
  // Records that this rank has seen the flags of all ranks.
  void saw_all(const Round& round) { note_all(round.number); }

  // With ping-pong, two ranks publish in slots that they have just read, in turn their own and the
  // other's.
  Address data_of(int rank, const Round& round) const {
    if (round.is_in_line()) return line_of(rank, round.number) + payload_offset;
    const int holder = holder_of(round.lines, rank, 1 - rank, round.number, slots);
    return {Region::shared, holder, slots_at() + round.number % slots * slot_stride_};
  }

  // A rank sets its flag of round n after it has read round n - 2. So a rank that has seen the flag
  // of round n - 2 of each reader may reuse its slot of round n - 4 for round n.
  static constexpr context::Sequence slots = 4;

 private:
  Round round_at(const Data& data, std::size_t offset) {
    return {++last_, offset, std::min(data.round_bytes, data.bytes - offset), data.lines};
  }
  std::size_t slots_at() const { return lines_ * false_sharing_bytes; }
  Address line_of(int owner, context::Sequence number) const {
    return {Region::shared, owner, (number & (lines_ - 1)) * false_sharing_bytes};
  }

  // Blocks until the round's slot or cache line may be reused. Because there are several cache
  // lines for flags, a rank may be several rounds ahead of the others, and checks their progress
  // only from time to time. A check takes about as long as a call.
  template <context::Context Ctx>
  void make_room(Ctx& ctx, const Round& round) {
    if (!round.is_in_line()) return see_readers(ctx, round.number - 2);
    make_room_in_line(ctx, round.number);
  }
  template <context::Context Ctx>
  void make_room_in_line(Ctx& ctx, context::Sequence number) {
    const context::Sequence last = number + 2 - lines_;
    if (!context::reached(seen_, last)) see_readers(ctx, number - lines_ / 2);
  }
  // Blocks until all readers have published this round. If the reader changed recently, these are
  // the previous readers as well.
  template <context::Context Ctx>
  void see_readers(Ctx& ctx, context::Sequence number) {
    if (context::reached(seen_, number)) return;
    if (reader_ != all_ranks && is_settled_) {
      ctx.wait(line_of(reader_, number), context::until_reached(number));
      seen_ = number;
      return;
    }
    for (int rank = 0; rank < ctx.ranks(); ++rank) {
      if (rank != ctx.rank()) ctx.wait(line_of(rank, number), context::until_reached(number));
    }
    note_all(number);
  }
  void note_all(context::Sequence number) {
    seen_ = number;
    if (!is_settled_) is_settled_ = context::reached(number, settled_at_);
  }
  // Until all ranks have published the second round from now on, some may not have read the last
  // rounds that had another reader.
  void change_reader(Reader reader) {
    reader_ = reader;
    is_settled_ = false;
    settled_at_ = last_ + 2;
  }
  // A rank that never publishes data does not check the others' progress, but none of them can be
  // half of all numbers behind.
  void keep_comparable(context::Sequence number) {
    constexpr context::Sequence most = context::Sequence{1} << 30;
    if (number - seen_ > most) seen_ = number - most;
  }

  context::Sequence lines_;
  std::size_t slot_stride_;
  context::Sequence empty_lines_ = 0;  // rounds since this rank last published data, up to lines_
  context::Sequence last_;             // number of rounds of all calls so far
  // All data of rounds up to seen_ - 2 have been read by their readers.
  context::Sequence seen_;
  Reader reader_ = all_ranks;
  bool is_settled_ = true;  // all data published for previous readers have been read
  context::Sequence settled_at_ = 0;
};

}  // namespace huddle::node

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Allgather of small data among many ranks (the algorithm of Bruck et al.): in each round a rank
// sends all the blocks that it has to one peer, whose distance doubles from round to round. So each
// rank receives few messages, of growing size, instead of reading a slot of every rank.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/context/context.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/blocks.h"
#include "runtime/node/lines.h"

namespace huddle::node {

class DoublingExchange {
 public:
  struct Parameters {
    // capacity for the blocks of all ranks, if all were as large as the largest
    std::size_t capacity_bytes = 16384;
  };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    memory::CopyMethod method = {};  // a message has one reader, which may take ownership
    // size of the blocks of all ranks, if all are as large as the largest; at most the capacity
    std::size_t all_bytes = 0;
  };
  // A rank sends `blocks` blocks, beginning with its own, to the rank `distance` before it.
  struct Round {
    int distance = 1;
    int blocks = 1;
  };
  static std::vector<Round> rounds(int ranks);

  // A rank that has finished a call has received data of that call from every rank. So all ranks
  // have finished the previous call, and the messages of the previous call may be overwritten.
  static constexpr context::Sequence calls_in_flight = 2;

  // Requires: all words of shared memory hold `start`.
  DoublingExchange(const Parameters& parameters, int rank, int ranks, context::Sequence start);

  std::size_t shared_bytes() const { return calls_in_flight * set_bytes_; }

  // Copies each rank's input to its block of every rank's output. Ranks forward the blocks that
  // they have received. If `in_place`, a rank's own block is not touched.
  template <context::Context Ctx>
  void allgather(Ctx& ctx, const Blocks& blocks, bool in_place, const Plan& plan) {
    ++call_;
    const Block own = blocks.of(ctx.rank());
    if (!in_place) move_own(ctx, {0, own.bytes}, own);
    for (const Message& message : messages_) {
      send(ctx, message, blocks, plan);
      receive(ctx, message, blocks, plan);
    }
  }

 private:
  // The messages sent and received in a round; both lie at offset `at` in their sender's memory.
  struct Message {
    int blocks = 1;
    int from = 0;
    std::size_t at = 0;
  };

  Address place_of(const Message& message, int owner) const {
    return {Region::shared, owner, call_ % calls_in_flight * set_bytes_ + message.at};
  }

  template <context::Context Ctx>
  void send(Ctx& ctx, const Message& message, const Blocks& blocks, const Plan& plan) {
    const Address mine = place_of(message, ctx.rank());
    each_run(ctx, ctx.rank(), message.blocks, blocks, mine,
             [&](Address in_message, Address in_output, std::size_t bytes) {
               ctx.copy(in_message, in_output, bytes, plan.method->in);
             });
    ctx.store_stamped(mine, call_);
  }

  template <context::Context Ctx>
  void receive(Ctx& ctx, const Message& message, const Blocks& blocks, const Plan& plan) {
    const Address theirs = place_of(message, message.from);
    ctx.wait_stamped(theirs, context::until_reached(call_));
    each_run(ctx, message.from, message.blocks, blocks, theirs,
             [&](Address in_message, Address in_output, std::size_t bytes) {
               copy_out(ctx, in_output, in_message, bytes, plan.method);
             });
  }

  // Calls `copy` for the blocks of `count` ranks from `first` on, wrapping around, in as few
  // contiguous pieces as possible.
  template <context::Context Ctx, class Copy>
  static void each_run(const Ctx& ctx, int first, int count, const Blocks& blocks, Address message,
                       Copy copy) {
    const int last = std::min(first + count, ctx.ranks());
    const int wrapped = first + count - last;
    std::size_t at = payload_at(blocks.total(first, last) + blocks.total(0, wrapped));
    const auto copy_runs = [&](int from, int to) {
      while (from < to) {
        const Blocks::Run run = blocks.run(from, to);
        from = run.next;
        if (run.block.bytes == 0) continue;
        const auto offset = static_cast<std::size_t>(run.block.offset);
        copy(message + at, Address{Region::output, ctx.rank(), offset}, run.block.bytes);
        at += run.block.bytes;
      }
    };
    copy_runs(first, last);
    copy_runs(0, wrapped);
  }

  std::vector<Message> messages_;  // by round
  std::size_t set_bytes_ = 0;      // size of all messages of a call
  context::Sequence call_;
};

}  // namespace huddle::node

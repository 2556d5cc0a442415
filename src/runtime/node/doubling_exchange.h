// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// An allgather of little data among many (after Bruck and others): in each round a rank passes on
// all the blocks that it has, to one rank, from round to round twice as far away. So each hears
// from a few ranks, in messages that grow, where otherwise it would look into everybody's slot.
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
    std::size_t capacity_bytes = 16384;  // of all ranks' blocks together, each as large as any
  };
  // What may differ from call to call; equal on all ranks.
  struct Plan {
    memory::CopyMethod method = {};  // a message has one reader, who may take ownership
  };
  // A rank sends the blocks of so many, its own and those after it, to the rank so far before it.
  struct Round {
    int distance = 1;
    int blocks = 1;
  };
  static std::vector<Round> rounds(int ranks);

  // Whoever is through with a call has heard from everybody in it, so that all are through with the
  // one before, whose messages may be overwritten.
  static constexpr context::Sequence calls_in_flight = 2;

  // pre: shared memory holds `start` everywhere.
  DoublingExchange(const Parameters& parameters, int rank, int ranks, context::Sequence start);

  std::size_t shared_bytes() const { return calls_in_flight * set_bytes_; }

  // What each rank's input holds, to where the blocks of everybody's output are. What lies there is
  // passed on. This rank's own is not touched in place.
  template <context::Context W>
  void allgather(W& w, const Blocks& blocks, bool in_place, const Plan& plan) {
    ++call_;
    const Block own = blocks.of(w.rank());
    if (!in_place) move_own(w, {0, own.bytes}, own);
    for (const Message& message : messages_) {
      send(w, message, blocks, plan);
      receive(w, message, blocks, plan);
    }
  }

 private:
  // What goes out in a round, and what comes in; at the same place in the memory of either.
  struct Message {
    int blocks = 1;
    int from = 0;
    std::size_t at = 0;
  };

  Address place_of(const Message& message, int owner) const {
    return {Region::shared, owner, call_ % calls_in_flight * set_bytes_ + message.at};
  }

  template <context::Context W>
  void send(W& w, const Message& message, const Blocks& blocks, const Plan& plan) {
    const Address mine = place_of(message, w.rank());
    each_run(w, w.rank(), message.blocks, blocks, mine,
             [&](Address in_message, Address in_output, std::size_t bytes) {
               w.copy(in_message, in_output, bytes, plan.method->in);
             });
    w.store_stamped(mine, call_);
  }

  template <context::Context W>
  void receive(W& w, const Message& message, const Blocks& blocks, const Plan& plan) {
    const Address theirs = place_of(message, message.from);
    w.wait_stamped(theirs, context::until_reached(call_));
    each_run(w, message.from, message.blocks, blocks, theirs,
             [&](Address in_message, Address in_output, std::size_t bytes) {
               copy_out(w, in_output, in_message, bytes, plan.method);
             });
  }

  // The blocks of so many ranks from this one on, round the end, in as few pieces as can be.
  template <context::Context W, class Copy>
  static void each_run(const W& w, int first, int count, const Blocks& blocks, Address message,
                       Copy copy) {
    const int last = std::min(first + count, w.ranks());
    const int wrapped = first + count - last;
    std::size_t at = payload_at(blocks.total(first, last) + blocks.total(0, wrapped));
    const auto copy_runs = [&](int from, int to) {
      while (from < to) {
        const Blocks::Run run = blocks.run(from, to);
        from = run.next;
        if (run.block.bytes == 0) continue;
        const auto offset = static_cast<std::size_t>(run.block.offset);
        copy(message + at, Address{Region::output, w.rank(), offset}, run.block.bytes);
        at += run.block.bytes;
      }
    };
    copy_runs(first, last);
    copy_runs(0, wrapped);
  }

  std::vector<Message> messages_;  // by round
  std::size_t set_bytes_ = 0;      // of a call
  context::Sequence call_;
};

}  // namespace huddle::node

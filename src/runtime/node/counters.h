// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Numbers that only rise, one of each rank, each in a line of its owner's memory that only the
// owner writes. Most of what protocols tell each other is "I am this far".
//
// They are compared as numbers that wrap, so none may fall 2^31 behind: every rank raises its
// flags now and then, also where nobody waits for them.
#pragma once

#include <vector>

#include "runtime/context/context.h"
#include "runtime/context/sequence.h"
#include "runtime/node/lines.h"

namespace huddle::node {

class Counters {
  static_assert(payload_offset + context::stamps_kept * sizeof(context::Sequence) <= line_bytes);

 public:
  Counters() = default;
  explicit Counters(SharedLayout& layout) : offset_(layout.take(apart_bytes)) {}

  Address of(int owner) const { return {Region::shared, owner, offset_}; }

  template <context::Context W>
  void publish(W& w, context::Sequence value) const {
    w.store(of(w.rank()), value);
  }
  // Returns how far it is, in a way of the world's own: the checker wants to know who looks at it.
  template <context::Context W>
  auto wait_for(W& w, int owner, context::Sequence value) const {
    return w.wait(of(owner), context::until_reached(value));
  }
  // At the beginning of a call: its arguments are announced with what is published next.
  template <context::Context W>
  void announce_call(W& w) const {
    w.keep_stamp(stamps_of(w.rank()));
  }
  // Waits for what `owner` publishes in this call. Throws CallsDiffer if it is in this call with
  // other arguments.
  template <context::Context W>
  auto wait_in_call(W& w, int owner, context::Sequence value) const {
    const auto seen = wait_for(w, owner, value);
    w.compare_stamp(stamps_of(owner));
    return seen;
  }
  // Until everybody else is as far. Returns how far the last of them is; alone in the team, as far
  // as was asked for.
  template <context::Context W>
  context::Sequence wait_for_others(W& w, context::Sequence value) const {
    context::Sequence last = value;
    // Begun with the next rank, so that not all ask the same one first.
    for (int step = 1; step < w.ranks(); ++step) {
      const context::Sequence seen = wait_for(w, (w.rank() + step) % w.ranks(), value);
      if (step == 1 || context::reached(last, seen)) last = seen;
    }
    return last;
  }

 private:
  // In the flag's own line, and apart from words that protocols keep behind the flag.
  Address stamps_of(int owner) const { return of(owner) + payload_offset; }

  std::size_t offset_ = 0;
};

// Buffers that are written again after so many uses: keeps whoever fills them from overtaking those
// who still read. The readers' counters are looked at only when the last look no longer allows it.
class ReuseGuard {
 public:
  ReuseGuard(Counters done, context::Sequence start) : done_(done), known_(start) {}

  // Until everybody else has done all up to `value`.
  template <context::Context W>
  void wait_for_others(W& w, context::Sequence value) {
    if (context::reached(known_, value)) return;
    known_ = done_.wait_for_others(w, value);
  }

  // Somebody else has waited until then, and this rank has heard from it since.
  void learn(context::Sequence value) {
    if (!context::reached(known_, value)) known_ = value;
  }

 private:
  Counters done_;
  context::Sequence known_;
};

}  // namespace huddle::node

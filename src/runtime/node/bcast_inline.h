// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Broadcast of a few bytes that ride behind the flag that announces them: one line moves, and that
// is all. Every rank writes for its children in the tree; each has a ring of slots, so that a root
// may be some broadcasts ahead of its slowest reader.
#pragma once

#include <vector>

#include "runtime/context/world.h"
#include "runtime/node/counters.h"
#include "runtime/node/lines.h"
#include "runtime/node/locality.h"

namespace huddle::node {

class InlineBcast {
 public:
  struct Parameters {
    std::vector<Shape> shapes;                  // of the trees that calls may ask for
    std::size_t capacity_bytes = most_in_line;  // the most that one call moves
    int slots = 8;                              // how far a root may run ahead
  };

  // pre: shared memory holds `start` everywhere; slots is a power of two: counters
  // wrap.
  InlineBcast(const Parameters& parameters, const RankLocality& locality, int rank,
              world::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }

  // pre: bytes is not over the capacity; shape is the number of one of the shapes.
  template <world::World W>
  void run(W& w, std::size_t bytes, int root, int shape) {
    const Roles::Role& role = roles_.of(shape, root);
    const world::Sequence call = ++call_;
    const bool is_root = w.rank() == root;
    if (role.has_children) {
      // Whoever read this slot last has to be through with it.
      done_guard_.wait_for_others(w, call - slots_);
    }
    if (!is_root) {
      const Address slot = slot_of(role.parent, call);
      w.wait_stamped(slot, world::until_reached(call));
      const Address payload = slot + payload_at(bytes);
      if (role.has_children) {
        pass_on(w, payload, bytes);
      } else if (has_to_keep_up()) {
        raise_flag(w);
      }
      w.copy({Region::output, w.rank(), 0}, payload, bytes, memory::CopyKernel::plain);
      // What its parent waited for before it wrote.
      done_guard_.learn(call - slots_);
    } else if (role.has_children) {
      pass_on(w, {Region::input, w.rank(), 0}, bytes);
    }
    done_.publish(w, call);
  }

 private:
  Address slot_of(int owner, world::Sequence call) const {
    return {Region::shared, owner, slots_offset_ + call % slots_ * slot_stride_};
  }
  template <world::World W>
  void pass_on(W& w, Address from, std::size_t bytes) {
    w.copy(slot_of(w.rank(), call_) + payload_at(bytes), from, bytes, memory::CopyKernel::plain);
    raise_flag(w);
  }
  // Nobody waits for a leaf; but its flags must not fall 2^31 behind until the day when it is a
  // root. To raise them is to take the line back from those who read it last: so it is done rarely.
  bool has_to_keep_up() const { return call_ / slots_ % rarely == 0; }
  static constexpr world::Sequence rarely = 1 << 16;

  template <world::World W>
  void raise_flag(W& w) {
    w.store_stamped(slot_of(w.rank(), call_), call_);
  }

  Roles roles_;
  SharedLayout carver_;
  Counters done_;
  ReuseGuard done_guard_;
  world::Sequence slots_;
  std::size_t slot_stride_;
  std::size_t slots_offset_;
  world::Sequence call_;
};

}  // namespace huddle::node

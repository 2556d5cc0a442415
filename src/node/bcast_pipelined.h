// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The pipelined broadcast of Kurnosov and Tokmasheva: every rank owns a queue of buffers in memory
// near it; the root fills its own, fragment by fragment; word of each fragment goes down a tree,
// and everybody copies straight from the root's queue.
//
// Where it differs from the paper (docs/records/0006): a rank announces fragments in one line of
// its own that its children watch, in place of writing a word of each child, and readers count what
// they have read in lines of their own, in place of taking turns at one counter. So every flag has
// one writer whatever the root, and roots may follow each other without waiting.
#pragma once

#include <algorithm>

#include "node/counters.h"
#include "node/lines.h"
#include "node/seats.h"
#include "world/world.h"

namespace huddle::node {

class PipelinedBcast {
 public:
  struct Parameters {
    Shape shape;                        // of the notifications
    std::size_t fragment_bytes = 8192;  // f
    int buffers = 32;                   // s
    int sets = 2;                       // q: a set is waited for and given back as a whole
    memory::CopyKernel copy_in = memory::CopyKernel::plain;
  };

  // pre: shared memory holds `start` everywhere; buffers and sets are powers of two, sets not more
  // than buffers.
  PipelinedBcast(const Parameters& parameters, const Seats& seats, int rank, world::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }

  template <world::World W>
  void run(W& w, std::size_t bytes, int root) {
    const auto fragments =
        static_cast<world::Sequence>((bytes + fragment_bytes_ - 1) / fragment_bytes_);
    if (w.rank() == root) {
      send(w, bytes, fragments);
    } else {
      receive(w, bytes, fragments, root);
    }
    count_ += fragments;
    done_.publish(w, count_);
  }

 private:
  Place buffer_of(int owner, world::Sequence fragment) const {
    return {Region::shared, owner, queue_offset_ + fragment % buffers_ * fragment_bytes_};
  }

  template <world::World W>
  void send(W& w, std::size_t bytes, world::Sequence fragments) {
    for (world::Sequence i = 0; i < fragments; ++i) {
      const world::Sequence fragment = count_ + i;
      if (i == 0 || fragment % set_ == 0) wait_for_set_of(w, fragment);
      const std::size_t at = i * fragment_bytes_;
      w.copy(buffer_of(w.rank(), fragment), {Region::input, w.rank(), at},
             std::min(fragment_bytes_, bytes - at), copy_in_);
      have_.publish(w, fragment + 1);
    }
  }

  // The set that holds this fragment's buffer has been read by all, as often as it was filled.
  template <world::World W>
  void wait_for_set_of(W& w, world::Sequence fragment) {
    const world::Sequence end_of_set = fragment - fragment % set_ + set_;
    done_guard_.wait_for_others(w, end_of_set - buffers_);
  }

  template <world::World W>
  void receive(W& w, std::size_t bytes, world::Sequence fragments, int root) {
    const Roles::Role& role = roles_.of(root);
    for (world::Sequence i = 0; i < fragments; ++i) {
      const world::Sequence fragment = count_ + i;
      have_.wait_for(w, role.parent, fragment + 1);
      if (role.has_children) have_.publish(w, fragment + 1);
      const std::size_t at = i * fragment_bytes_;
      w.copy({Region::output, w.rank(), at}, buffer_of(root, fragment),
             std::min(fragment_bytes_, bytes - at), memory::CopyKernel::plain);
      if ((fragment + 1) % set_ == 0) done_.publish(w, fragment + 1);
    }
  }

  Roles roles_;
  std::size_t fragment_bytes_;
  world::Sequence buffers_;
  world::Sequence set_;  // buffers in a set
  memory::CopyKernel copy_in_;
  Carver carver_;
  Counters have_;
  Counters done_;
  ReuseGuard done_guard_;
  std::size_t queue_offset_;
  world::Sequence count_;  // fragments of all calls so far
};

}  // namespace huddle::node

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
#include <vector>

#include "memory/passing.h"
#include "node/copy_out.h"
#include "node/counters.h"
#include "node/lines.h"
#include "node/seats.h"
#include "world/world.h"

namespace huddle::node {

class PipelinedBcast {
 public:
  struct Parameters {
    std::vector<Shape> shapes;            // of the trees that calls may ask for
    std::size_t cell_bytes = page_bytes;  // queues are dealt out in cells
    int set_cells = 16;                   // a set is waited for and given back as a whole
    int sets = 4;                         // q: how many a queue has; s f bytes in all
  };
  // What may differ from call to call; equal on all ranks.
  struct Plan {
    int shape = 0;                 // of the notifications: the number of one of the shapes
    int fragment_cells = 2;        // f
    memory::Passing passing = {};  // taken only between two ranks
  };

  // pre: shared memory holds `start` everywhere; set_cells and sets are powers of two, for counters
  // wrap.
  PipelinedBcast(const Parameters& parameters, const Seats& seats, int rank, world::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }

  // pre: fragment_cells is a power of two, not over set_cells.
  template <world::World W>
  void run(W& w, std::size_t bytes, int root, const Plan& plan) {
    const std::size_t fragment_bytes = static_cast<std::size_t>(plan.fragment_cells) * cell_bytes_;
    const auto cells = static_cast<world::Sequence>(plan.fragment_cells);
    const auto each_fragment = [&](auto move) {
      world::Sequence end = count_;
      for (std::size_t at = 0; at < bytes; at += fragment_bytes) {
        end += cells;
        move(Fragment{at, std::min(fragment_bytes, bytes - at), end - cells, end});
      }
      // The next call begins with a set of its own.
      count_ = end + (set_ - end % set_) % set_;
    };
    if (w.rank() == root) {
      each_fragment([&](const Fragment& fragment) { send(w, fragment, plan.passing.in); });
    } else {
      const Roles::Role& role = roles_.of(plan.shape, root);
      each_fragment(
          [&](const Fragment& fragment) { receive(w, fragment, root, role, plan.passing); });
      // Nobody waits for a leaf: it keeps up for the day when it is a root.
      if (!role.has_children) have_.publish(w, count_);
      // What the root waited for before it filled the last set.
      done_guard_.learn(count_ - queue_);
    }
    done_.publish(w, count_);
  }

 private:
  struct Fragment {
    std::size_t at = 0;  // in the message
    std::size_t bytes = 0;
    world::Sequence first_cell = 0;  // among the cells of all calls
    world::Sequence end_cell = 0;
  };

  Place buffer_of(int owner, const Fragment& fragment) const {
    return {Region::shared, owner, queue_offset_ + fragment.first_cell % queue_ * cell_bytes_};
  }

  template <world::World W>
  void send(W& w, const Fragment& fragment, memory::CopyKernel kernel) {
    if (fragment.first_cell % set_ == 0) {
      // All have read what this set held before.
      done_guard_.wait_for_others(w, fragment.first_cell + set_ - queue_);
    }
    w.copy(buffer_of(w.rank(), fragment), {Region::input, w.rank(), fragment.at}, fragment.bytes,
           kernel);
    have_.publish(w, fragment.end_cell);
  }

  template <world::World W>
  void receive(W& w, const Fragment& fragment, int root, const Roles::Role& role,
               const memory::Passing& passing) {
    have_.wait_for(w, role.parent, fragment.end_cell);
    // Others first: they wait for it, and for nothing else of this rank.
    if (role.has_children) have_.publish(w, fragment.end_cell);
    copy_out(w, {Region::output, w.rank(), fragment.at}, buffer_of(root, fragment), fragment.bytes,
             passing);
    if (fragment.end_cell % set_ == 0) done_.publish(w, fragment.end_cell);
  }

  Roles roles_;
  std::size_t cell_bytes_;
  world::Sequence set_;    // cells of a set
  world::Sequence queue_;  // cells of all sets
  Carver carver_;
  Counters have_;
  Counters done_;
  ReuseGuard done_guard_;
  std::size_t queue_offset_;
  world::Sequence count_;  // cells of all calls so far
};

}  // namespace huddle::node

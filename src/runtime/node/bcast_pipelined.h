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
//
// Between two ranks a root may also answer: it fills the very cells that it has just read, whoever
// owns them. Their lines are at hand, and nobody has to be asked whether there is room
// (docs/records/0032).
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/context/world.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/copy_out.h"
#include "runtime/node/counters.h"
#include "runtime/node/lines.h"
#include "runtime/node/locality.h"

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
    int shape = 0;                   // of the notifications: the number of one of the shapes
    int fragment_cells = 2;          // f
    memory::CopyMethod method = {};  // the reader takes ownership only between two ranks
    // The same where the root was the reader of the call before: its lines return. Only between two
    // ranks.
    std::optional<memory::CopyMethod> answer = {};
  };

  // pre: shared memory holds `start` everywhere; set_cells and sets are powers of two, for counters
  // wrap.
  PipelinedBcast(const Parameters& parameters, const RankLocality& locality, int rank,
                 world::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }

  // pre: fragment_cells is a power of two, not over set_cells.
  template <world::World W>
  void run(W& w, std::size_t bytes, int root, const Plan& plan) {
    // Who gets nothing hears nothing of how far others are.
    if (bytes == 0) return;
    have_.announce_call(w);
    const memory::CopyMethod method = begin(root, plan);
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
      each_fragment([&](const Fragment& fragment) { send(w, fragment, method->in); });
    } else {
      const Roles::Role& role = roles_.of(plan.shape, root);
      each_fragment([&](const Fragment& fragment) { receive(w, fragment, role, method); });
      // Nobody waits for a leaf: it keeps up for the day when it is a root.
      if (!role.has_children) have_.publish(w, count_);
      // What the root waited for before it filled the last set; the only other rank has read all
      // that it has not written.
      done_guard_.learn(w.ranks() == 2 ? count_ : count_ - queue_);
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

  // Finds the cells for a call: the next ones of the root's queue, or those of the call before.
  memory::CopyMethod begin(int root, const Plan& plan) {
    const bool answers = plan.answer && root != root_;
    if (answers) {
      used_again_ += count_ - begin_;
    } else {
      owner_ = root;
    }
    root_ = root;
    begin_ = count_;
    return answers ? *plan.answer : plan.method;
  }

  Address buffer_of(const Fragment& fragment) const {
    const world::Sequence buffer = (fragment.first_cell - used_again_) % queue_;
    return {Region::shared, owner_, queue_offset_ + buffer * cell_bytes_};
  }

  template <world::World W>
  void send(W& w, const Fragment& fragment, memory::CopyKernel kernel) {
    if (fragment.first_cell % set_ == 0) {
      // All have read what this set held before.
      done_guard_.wait_for_others(w, fragment.first_cell + set_ - queue_);
    }
    w.copy(buffer_of(fragment), {Region::input, w.rank(), fragment.at}, fragment.bytes, kernel);
    have_.publish(w, fragment.end_cell);
  }

  template <world::World W>
  void receive(W& w, const Fragment& fragment, const Roles::Role& role, memory::CopyMethod method) {
    have_.wait_in_call(w, role.parent, fragment.end_cell);
    // Others first: they wait for it, and for nothing else of this rank.
    if (role.has_children) have_.publish(w, fragment.end_cell);
    copy_out(w, {Region::output, w.rank(), fragment.at}, buffer_of(fragment), fragment.bytes,
             method);
    if (fragment.end_cell % set_ == 0) done_.publish(w, fragment.end_cell);
  }

  Roles roles_;
  std::size_t cell_bytes_;
  world::Sequence set_;    // cells of a set
  world::Sequence queue_;  // cells of all sets
  SharedLayout carver_;
  Counters have_;
  Counters done_;
  ReuseGuard done_guard_;
  std::size_t queue_offset_;
  world::Sequence count_;           // cells of all calls so far
  world::Sequence begin_;           // how many those were when the latest call began
  world::Sequence used_again_ = 0;  // of them, those that lie where others had lain
  int root_ = 0;                    // of the latest call
  int owner_ = 0;                   // of the queue that it went through
};

}  // namespace huddle::node

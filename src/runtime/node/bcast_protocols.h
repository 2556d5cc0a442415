// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/context/context.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/counters.h"
#include "runtime/node/lines.h"
#include "runtime/node/locality.h"

namespace huddle::node {

// Broadcast of a few bytes that ride behind the flag that announces them: one line moves, and that
// is all. Every rank writes for its children in the tree; each has a ring of slots, so that a root
// may be some broadcasts ahead of its slowest reader.
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
              context::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }

  // pre: bytes is not over the capacity; shape is the number of one of the shapes.
  template <context::Context W>
  void run(W& w, std::size_t bytes, int root, int shape) {
    const Roles::Role& role = roles_.of(shape, root);
    const context::Sequence call = ++call_;
    const bool is_root = w.rank() == root;
    if (role.has_children) {
      // Whoever read this slot last has to be through with it.
      done_guard_.wait_for_others(w, call - slots_);
    }
    if (!is_root) {
      const Address slot = slot_of(role.parent, call);
      w.wait_stamped(slot, context::until_reached(call));
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
  Address slot_of(int owner, context::Sequence call) const {
    return {Region::shared, owner, slots_offset_ + call % slots_ * slot_stride_};
  }
  template <context::Context W>
  void pass_on(W& w, Address from, std::size_t bytes) {
    w.copy(slot_of(w.rank(), call_) + payload_at(bytes), from, bytes, memory::CopyKernel::plain);
    raise_flag(w);
  }
  // Nobody waits for a leaf; but its flags must not fall 2^31 behind until the day when it is a
  // root. To raise them is to take the line back from those who read it last: so it is done rarely.
  bool has_to_keep_up() const { return call_ / slots_ % rarely == 0; }
  static constexpr context::Sequence rarely = 1 << 16;

  template <context::Context W>
  void raise_flag(W& w) {
    w.store_stamped(slot_of(w.rank(), call_), call_);
  }

  Roles roles_;
  SharedLayout carver_;
  Counters done_;
  ReuseGuard done_guard_;
  context::Sequence slots_;
  std::size_t slot_stride_;
  std::size_t slots_offset_;
  context::Sequence call_;
};

// The pipelined broadcast of Kurnosov and Tokmasheva: every rank owns a queue of buffers in memory
// near it; the root fills its own, fragment by fragment; word of each fragment goes down a tree,
// and everybody copies straight from the root's queue.
//
// Where it differs from the paper (docs/design/bcast-allgather-alltoall.md): a rank announces
// fragments in one line of its own that its children watch, in place of writing a word of each
// child, and readers count what they have read in lines of their own, in place of taking turns at
// one counter. So every flag has one writer whatever the root, and roots may follow each other
// without waiting.
//
// Between two ranks a root may also answer: it fills the very cells that it has just read, whoever
// owns them. Their lines are at hand, and nobody has to be asked whether there is room
// (docs/design/bcast-allgather-alltoall.md).
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
                 context::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }

  // pre: fragment_cells is a power of two, not over set_cells.
  template <context::Context W>
  void run(W& w, std::size_t bytes, int root, const Plan& plan) {
    // Who gets nothing hears nothing of how far others are.
    if (bytes == 0) return;
    have_.announce_call(w);
    const memory::CopyMethod method = begin(root, plan);
    const std::size_t fragment_bytes = static_cast<std::size_t>(plan.fragment_cells) * cell_bytes_;
    const auto cells = static_cast<context::Sequence>(plan.fragment_cells);
    const auto each_fragment = [&](auto move) {
      context::Sequence end = count_;
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
    context::Sequence first_cell = 0;  // among the cells of all calls
    context::Sequence end_cell = 0;
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
    const context::Sequence buffer = (fragment.first_cell - used_again_) % queue_;
    return {Region::shared, owner_, queue_offset_ + buffer * cell_bytes_};
  }

  template <context::Context W>
  void send(W& w, const Fragment& fragment, memory::CopyKernel kernel) {
    if (fragment.first_cell % set_ == 0) {
      // All have read what this set held before.
      done_guard_.wait_for_others(w, fragment.first_cell + set_ - queue_);
    }
    w.copy(buffer_of(fragment), {Region::input, w.rank(), fragment.at}, fragment.bytes, kernel);
    have_.publish(w, fragment.end_cell);
  }

  template <context::Context W>
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
  context::Sequence set_;    // cells of a set
  context::Sequence queue_;  // cells of all sets
  SharedLayout carver_;
  Counters have_;
  Counters done_;
  ReuseGuard done_guard_;
  std::size_t queue_offset_;
  context::Sequence count_;           // cells of all calls so far
  context::Sequence begin_;           // how many those were when the latest call began
  context::Sequence used_again_ = 0;  // of them, those that lie where others had lain
  int root_ = 0;                      // of the latest call
  int owner_ = 0;                     // of the queue that it went through
};

// The broadcast of Zhang, Meng and Huo for large messages: a shared buffer cut into segments, each
// in another NUMA node's memory. Readers are dealt into groups; each group begins with another
// segment and goes round, so that few readers draw on one memory at a time and all memories work.
//
// The buffer is used in turns: while one half is read the root fills the other.
class SegmentedBcast {
 public:
  struct Parameters {
    int readers_at_once = 4;            // k: the most that draw on one segment at a time
    std::size_t segment_bytes = 65536;  // the most that one holds, in one half
  };
  // What may differ from call to call; equal on all ranks.
  struct Plan {
    std::size_t segment_bytes = 65536;  // not over that of the parameters
    memory::CopyMethod method = {};     // the reader takes ownership only between two ranks
  };

  // pre: shared memory holds `start` everywhere; segment_bytes is a multiple of the page.
  SegmentedBcast(const Parameters& parameters, const RankLocality& locality, int rank,
                 context::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }
  int segments() const { return static_cast<int>(homes_.size()); }

  template <context::Context W>
  void run(W& w, std::size_t bytes, int root, const Plan& plan) {
    const std::size_t half_bytes = homes_.size() * plan.segment_bytes;
    filled_.announce_call(w);
    for (std::size_t start = 0; start < bytes; start += half_bytes) {
      const Half half{start, std::min(half_bytes, bytes - start), plan.segment_bytes};
      if (w.rank() == root) {
        fill(w, half, plan.method->in);
      } else {
        drain(w, half, root, plan.method);
      }
      done_.publish(w, ++turn_);
    }
  }

 private:
  // Where a segment lies: in the memory of this rank, at this number among its segments.
  struct Home {
    int owner = 0;
    std::size_t number = 0;
  };
  static std::vector<Home> deal(const Parameters& parameters, const RankLocality& locality);

  // What one turn moves.
  struct Half {
    std::size_t start = 0;  // in the message
    std::size_t bytes = 0;
    std::size_t segment_bytes = 0;

    std::size_t at(std::size_t segment) const { return start + segment * segment_bytes; }
    // How much of it lies in this segment.
    std::size_t bytes_in(std::size_t segment) const {
      const std::size_t before = segment * segment_bytes;
      return bytes <= before ? 0 : std::min(segment_bytes, bytes - before);
    }
  };

  Address place_of(std::size_t segment) const {
    const Home& home = homes_[segment];
    const std::size_t half = turn_ % 2;
    return {Region::shared, home.owner,
            segments_offset_ + (2 * home.number + half) * segment_bytes_};
  }
  // What `filled` says once this segment of this turn is full.
  context::Sequence filled_after(std::size_t segment) const {
    return first_ + (turn_ - first_) * segment_count() + static_cast<context::Sequence>(segment) +
           1;
  }
  context::Sequence segment_count() const { return static_cast<context::Sequence>(homes_.size()); }

  template <context::Context W>
  void fill(W& w, const Half& half, memory::CopyKernel copy_in) {
    // All have read what this half of the buffer held two turns ago.
    done_guard_.wait_for_others(w, turn_ - 1);
    for (std::size_t segment = 0; segment < homes_.size(); ++segment) {
      w.copy(place_of(segment), {Region::input, w.rank(), half.at(segment)}, half.bytes_in(segment),
             copy_in);
      filled_.publish(w, filled_after(segment));
    }
  }

  template <context::Context W>
  void drain(W& w, const Half& half, int root, memory::CopyMethod method) {
    const int place_among_readers = (w.rank() - root + w.ranks()) % w.ranks() - 1;
    const auto group = static_cast<std::size_t>(place_among_readers / readers_at_once_);
    for (std::size_t step = 0; step < homes_.size(); ++step) {
      const std::size_t segment = (group + step) % homes_.size();
      filled_.wait_in_call(w, root, filled_after(segment));
      copy_out(w, {Region::output, w.rank(), half.at(segment)}, place_of(segment),
               half.bytes_in(segment), method);
    }
    // Nobody waits for a reader: it keeps up for the day when it is a root.
    filled_.publish(w, filled_after(homes_.size() - 1));
    // What the root waited for before it filled this half.
    done_guard_.learn(turn_ - 1);
  }

  std::vector<Home> homes_;  // of each segment
  int readers_at_once_;
  std::size_t segment_bytes_;
  SharedLayout carver_;
  Counters filled_;
  Counters done_;
  ReuseGuard done_guard_;
  std::size_t segments_offset_;
  context::Sequence first_;
  context::Sequence turn_;
};

}  // namespace huddle::node

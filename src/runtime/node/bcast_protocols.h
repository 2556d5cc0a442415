// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Broadcast protocols of one team: inline (for small messages), pipelined, and segmented over the
// NUMA nodes (for large messages).
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

// Broadcast of small messages. A message is stored behind the flag that announces it: if both fit
// into one cache line, only that line moves. Each rank forwards the message to its children in a
// tree. It owns a ring of slots for that, so that a root may be several broadcasts ahead of its
// slowest reader.
class InlineBcast {
 public:
  struct Parameters {
    std::vector<Shape> shapes;                  // shapes of the trees that calls may use
    std::size_t capacity_bytes = most_in_line;  // largest message
    int slots = 8;                              // number of broadcasts that a root may be ahead
  };

  // Requires: all words of shared memory hold `start`; `slots` is a power of two, because counters
  // wrap.
  InlineBcast(const Parameters& parameters, const RankLocality& locality, int rank,
              context::Sequence start);

  std::size_t shared_bytes() const { return layout_.size(); }

  // Requires: `bytes` is at most the capacity; `shape` is an index into the parameters' `shapes`.
  template <context::Context Ctx>
  void run(Ctx& ctx, std::size_t bytes, int root, int shape) {
    const Roles::Role& role = roles_.of(shape, root);
    const context::Sequence call = ++call_;
    const bool is_root = ctx.rank() == root;
    if (role.has_children) {
      // Waits until the readers of this slot's previous message have finished.
      done_guard_.wait_for_others(ctx, call - slots_);
    }
    if (!is_root) {
      const Address slot = slot_of(role.parent, call);
      ctx.wait_stamped(slot, context::until_reached(call));
      const Address payload = slot + payload_at(bytes);
      if (role.has_children) {
        pass_on(ctx, payload, bytes);
      } else if (has_to_keep_up()) {
        raise_flag(ctx);
      }
      ctx.copy({Region::output, ctx.rank(), 0}, payload, bytes, memory::CopyKernel::plain);
      // The parent waited for this before it wrote the slot.
      done_guard_.learn(call - slots_);
    } else if (role.has_children) {
      pass_on(ctx, {Region::input, ctx.rank(), 0}, bytes);
    }
    done_.publish(ctx, call);
  }

 private:
  Address slot_of(int owner, context::Sequence call) const {
    return {Region::shared, owner, slots_offset_ + call % slots_ * slot_stride_};
  }
  template <context::Context Ctx>
  void pass_on(Ctx& ctx, Address from, std::size_t bytes) {
    ctx.copy(slot_of(ctx.rank(), call_) + payload_at(bytes), from, bytes,
             memory::CopyKernel::plain);
    raise_flag(ctx);
  }
  // No rank waits for a leaf, but its flags must not fall 2^31 calls behind, because it may become
  // the root. A leaf sets them only rarely, because each time it takes the cache line back from its
  // last readers.
  bool has_to_keep_up() const { return call_ / slots_ % rarely == 0; }
  static constexpr context::Sequence rarely = 1 << 16;

  template <context::Context Ctx>
  void raise_flag(Ctx& ctx) {
    ctx.store_stamped(slot_of(ctx.rank(), call_), call_);
  }

  Roles roles_;
  SharedLayout layout_;
  Counters done_;
  ReuseGuard done_guard_;
  context::Sequence slots_;
  std::size_t slot_stride_;
  std::size_t slots_offset_;
  context::Sequence call_;
};

// The pipelined broadcast of Kurnosov and Tokmasheva: each rank owns a queue of buffers in its
// local memory; the root fills its own queue fragment by fragment; a notification of each fragment
// travels down a tree, and every rank copies directly from the root's queue.
//
// Differences from the paper (docs/design/bcast-allgather-alltoall.md): a rank announces fragments
// in one cache line of its own that its children watch, instead of writing one word for each child;
// and each reader counts what it has read in a cache line of its own, instead of decrementing a
// shared counter. So each flag has a single writer whichever rank is the root, and successive roots
// need not wait for each other.
//
// With two ranks, a root that was the reader of the previous call may also reply in the cells that
// it has just read, whichever rank owns them (Plan::answer). Their cache lines are already in its
// cache, and it need not check whether the cells are free
// (docs/design/bcast-allgather-alltoall.md).
class PipelinedBcast {
 public:
  struct Parameters {
    std::vector<Shape> shapes;            // shapes of the trees that calls may use
    std::size_t cell_bytes = page_bytes;  // allocation unit of the queues
    int set_cells = 16;  // cells of a set; sets are awaited and released as a whole
    int sets = 4;        // number of sets in a queue (q in the paper)
  };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    int shape = 0;                   // of the notification tree: an index into `shapes`
    int fragment_cells = 2;          // size of a fragment, in cells (f in the paper)
    memory::CopyMethod method = {};  // the reader may take ownership only with two ranks
    // Used instead of `method` if the root was the reader of the previous call: it then refills the
    // cells that it has just read. Only with two ranks.
    std::optional<memory::CopyMethod> answer = {};
  };

  // Requires: all words of shared memory hold `start`; `set_cells` and `sets` are powers of two,
  // because counters wrap.
  PipelinedBcast(const Parameters& parameters, const RankLocality& locality, int rank,
                 context::Sequence start);

  std::size_t shared_bytes() const { return layout_.size(); }

  // Requires: `plan.fragment_cells` is a power of two and at most `set_cells`.
  template <context::Context Ctx>
  void run(Ctx& ctx, std::size_t bytes, int root, const Plan& plan) {
    // A rank that receives nothing waits for no peer, so it must not call done_guard_.learn()
    // below.
    if (bytes == 0) return;
    have_.announce_call(ctx);
    const memory::CopyMethod method = begin(root, plan);
    const std::size_t fragment_bytes = static_cast<std::size_t>(plan.fragment_cells) * cell_bytes_;
    const auto cells = static_cast<context::Sequence>(plan.fragment_cells);
    const auto each_fragment = [&](auto move) {
      context::Sequence end = count_;
      for (std::size_t at = 0; at < bytes; at += fragment_bytes) {
        end += cells;
        move(Fragment{at, std::min(fragment_bytes, bytes - at), end - cells, end});
      }
      // The next call begins with a new set.
      count_ = end + (set_ - end % set_) % set_;
    };
    if (ctx.rank() == root) {
      each_fragment([&](const Fragment& fragment) { send(ctx, fragment, method->in); });
    } else {
      const Roles::Role& role = roles_.of(plan.shape, root);
      each_fragment([&](const Fragment& fragment) { receive(ctx, fragment, role, method); });
      // No rank waits for a leaf, but its counter must not fall behind, because it may become the
      // root.
      if (!role.has_children) have_.publish(ctx, count_);
      // The root waited for this before it filled the last set. With two ranks, the other one has
      // read everything that it did not write itself.
      done_guard_.learn(ctx.ranks() == 2 ? count_ : count_ - queue_);
    }
    done_.publish(ctx, count_);
  }

 private:
  struct Fragment {
    std::size_t at = 0;  // offset in the message
    std::size_t bytes = 0;
    context::Sequence first_cell = 0;  // counted over the cells of all calls
    context::Sequence end_cell = 0;
  };

  // Selects the cells of a call: the next ones of the root's queue, or those of the previous call.
  // Returns the copy method to use.
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

  template <context::Context Ctx>
  void send(Ctx& ctx, const Fragment& fragment, memory::CopyKernel kernel) {
    if (fragment.first_cell % set_ == 0) {
      // Waits until all ranks have read the previous content of this set.
      done_guard_.wait_for_others(ctx, fragment.first_cell + set_ - queue_);
    }
    ctx.copy(buffer_of(fragment), {Region::input, ctx.rank(), fragment.at}, fragment.bytes, kernel);
    have_.publish(ctx, fragment.end_cell);
  }

  template <context::Context Ctx>
  void receive(Ctx& ctx, const Fragment& fragment, const Roles::Role& role,
               memory::CopyMethod method) {
    have_.wait_in_call(ctx, role.parent, fragment.end_cell);
    // Notifies the children first, because they read from the root's queue themselves.
    if (role.has_children) have_.publish(ctx, fragment.end_cell);
    copy_out(ctx, {Region::output, ctx.rank(), fragment.at}, buffer_of(fragment), fragment.bytes,
             method);
    if (fragment.end_cell % set_ == 0) done_.publish(ctx, fragment.end_cell);
  }

  Roles roles_;
  std::size_t cell_bytes_;
  context::Sequence set_;    // cells per set
  context::Sequence queue_;  // cells of all sets
  SharedLayout layout_;
  Counters have_;
  Counters done_;
  ReuseGuard done_guard_;
  std::size_t queue_offset_;
  context::Sequence count_;  // cells of all calls so far
  context::Sequence begin_;  // value of count_ when the latest call began
  // number of cells in count_ that reused a cell of the previous call
  context::Sequence used_again_ = 0;
  int root_ = 0;   // root of the latest call
  int owner_ = 0;  // owner of the queue that the latest call used
};

// The broadcast of Zhang, Meng and Huo for large messages: a shared buffer is cut into segments,
// which are distributed over the NUMA nodes. Each group of readers starts with a different segment
// and proceeds cyclically, so that few readers access the same node's memory at a time and all
// nodes are busy.
//
// The buffer has two halves: while one is read, the root fills the other.
class SegmentedBcast {
 public:
  struct Parameters {
    int readers_at_once = 4;            // k: maximum readers of one segment at a time
    std::size_t segment_bytes = 65536;  // maximum bytes of a segment in one half
  };
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    std::size_t segment_bytes = 65536;  // at most that of the parameters
    memory::CopyMethod method = {};     // the reader may take ownership only with two ranks
  };

  // Requires: all words of shared memory hold `start`; `segment_bytes` is a multiple of page_bytes.
  SegmentedBcast(const Parameters& parameters, const RankLocality& locality, int rank,
                 context::Sequence start);

  std::size_t shared_bytes() const { return layout_.size(); }
  int segments() const { return static_cast<int>(homes_.size()); }

  template <context::Context Ctx>
  void run(Ctx& ctx, std::size_t bytes, int root, const Plan& plan) {
    const std::size_t half_bytes = homes_.size() * plan.segment_bytes;
    filled_.announce_call(ctx);
    for (std::size_t start = 0; start < bytes; start += half_bytes) {
      const Half half{start, std::min(half_bytes, bytes - start), plan.segment_bytes};
      if (ctx.rank() == root) {
        fill(ctx, half, plan.method->in);
      } else {
        drain(ctx, half, root, plan.method);
      }
      done_.publish(ctx, ++turn_);
    }
  }

 private:
  // Location of a segment: the rank that holds it, and its index among that rank's segments.
  struct Home {
    int owner = 0;
    std::size_t number = 0;
  };
  static std::vector<Home> deal(const Parameters& parameters, const RankLocality& locality);

  // The data moved in one turn.
  struct Half {
    std::size_t start = 0;  // offset in the message
    std::size_t bytes = 0;
    std::size_t segment_bytes = 0;

    std::size_t at(std::size_t segment) const { return start + segment * segment_bytes; }
    // Returns the number of bytes in a segment.
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
  // Returns the value of `filled_` once this turn's segment is full.
  context::Sequence filled_after(std::size_t segment) const {
    return first_ + (turn_ - first_) * segment_count() + static_cast<context::Sequence>(segment) +
           1;
  }
  context::Sequence segment_count() const { return static_cast<context::Sequence>(homes_.size()); }

  template <context::Context Ctx>
  void fill(Ctx& ctx, const Half& half, memory::CopyKernel copy_in) {
    // Waits until all ranks have read the previous content of this half, written two turns ago.
    done_guard_.wait_for_others(ctx, turn_ - 1);
    for (std::size_t segment = 0; segment < homes_.size(); ++segment) {
      ctx.copy(place_of(segment), {Region::input, ctx.rank(), half.at(segment)},
               half.bytes_in(segment), copy_in);
      filled_.publish(ctx, filled_after(segment));
    }
  }

  template <context::Context Ctx>
  void drain(Ctx& ctx, const Half& half, int root, memory::CopyMethod method) {
    const int place_among_readers = (ctx.rank() - root + ctx.ranks()) % ctx.ranks() - 1;
    const auto group = static_cast<std::size_t>(place_among_readers / readers_at_once_);
    for (std::size_t step = 0; step < homes_.size(); ++step) {
      const std::size_t segment = (group + step) % homes_.size();
      filled_.wait_in_call(ctx, root, filled_after(segment));
      copy_out(ctx, {Region::output, ctx.rank(), half.at(segment)}, place_of(segment),
               half.bytes_in(segment), method);
    }
    // No rank waits for a reader, but its counter must not fall behind, because it may become the
    // root.
    filled_.publish(ctx, filled_after(homes_.size() - 1));
    // The root waited for this before it filled this half.
    done_guard_.learn(turn_ - 1);
  }

  std::vector<Home> homes_;  // by segment
  int readers_at_once_;
  std::size_t segment_bytes_;
  SharedLayout layout_;
  Counters filled_;
  Counters done_;
  ReuseGuard done_guard_;
  std::size_t segments_offset_;
  context::Sequence first_;
  context::Sequence turn_;
};

}  // namespace huddle::node

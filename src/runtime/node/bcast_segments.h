// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The broadcast of Zhang, Meng and Huo for large messages: a shared buffer cut into segments, each
// in another NUMA node's memory. Readers are dealt into groups; each group begins with another
// segment and goes round, so that few readers draw on one memory at a time and all memories work.
//
// The buffer is used in turns: while one half is read the root fills the other.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/context/world.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/copy_out.h"
#include "runtime/node/counters.h"
#include "runtime/node/lines.h"
#include "runtime/node/locality.h"

namespace huddle::node {

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
                 world::Sequence start);

  std::size_t shared_bytes() const { return carver_.size(); }
  int segments() const { return static_cast<int>(homes_.size()); }

  template <world::World W>
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
  world::Sequence filled_after(std::size_t segment) const {
    return first_ + (turn_ - first_) * segment_count() + static_cast<world::Sequence>(segment) + 1;
  }
  world::Sequence segment_count() const { return static_cast<world::Sequence>(homes_.size()); }

  template <world::World W>
  void fill(W& w, const Half& half, memory::CopyKernel copy_in) {
    // All have read what this half of the buffer held two turns ago.
    done_guard_.wait_for_others(w, turn_ - 1);
    for (std::size_t segment = 0; segment < homes_.size(); ++segment) {
      w.copy(place_of(segment), {Region::input, w.rank(), half.at(segment)}, half.bytes_in(segment),
             copy_in);
      filled_.publish(w, filled_after(segment));
    }
  }

  template <world::World W>
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
  world::Sequence first_;
  world::Sequence turn_;
};

}  // namespace huddle::node

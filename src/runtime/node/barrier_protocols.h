// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/context/context.h"
#include "runtime/node/lines.h"
#include "runtime/node/locality.h"

namespace huddle::node {

// A barrier in which all do the same: in each round a rank announces that everybody whom it has
// heard of is there, and listens to some others, farther off from round to round. With radix 2 it
// listens to one in each of log2 of the ranks rounds; with as many as there are ranks, to all in
// one round: the fewest waits, where each wait means that somebody has to get a core.
class DisseminationBarrier {
 public:
  struct Parameters {
    int radix = 2;
    // How many neighbours' flags of a round share a line: with two, two ranks need one line.
    int flags_per_line = 1;

    bool operator==(const Parameters&) const = default;
  };

  // pre: shared memory holds `start` everywhere; radix is 2 or more.
  DisseminationBarrier(const Parameters& parameters, int rank, int ranks, context::Sequence start);

  std::size_t shared_bytes() const { return shared_bytes_; }

  template <context::Context W>
  void run(W& w) {
    ++call_;
    for (const Round& round : rounds_) {
      w.store(round.announce, call_);
      for (const FlagAddress& other : round.hear) w.wait(other, context::until_reached(call_));
    }
  }

 private:
  struct Round {
    FlagAddress announce;
    std::vector<FlagAddress> hear;
  };
  std::vector<Round> rounds_;
  std::size_t shared_bytes_ = 0;
  context::Sequence call_;
};

// A barrier over a tree. Each rank reports to its parent once all its children have reported; then
// the root's release comes back down. The tree makes it flat, k-ary, or the three levels of Zhang,
// Meng and Huo (cores to chip leader, chip leaders to node leader). Its two phases can be called
// one by one, so that the root can wait for other nodes between them.

// Where the word down lies.
enum class Release : std::uint8_t {
  same_line,  // one queue: beside the child's report, in the same line
  own_queue,  // a second queue of flags: twice the lines
  announced,  // one flag of the parent that all its children watch
};

class TreeBarrier {
 public:
  struct Parameters {
    // How many children's flags share a line. Each flag keeps its one writer.
    int flags_per_line = 1;
    Release release = Release::announced;

    bool operator==(const Parameters&) const = default;
  };

  // pre: shared memory holds `start` everywhere.
  TreeBarrier(const Tree& tree, const Parameters& parameters, int rank, context::Sequence start);

  // Shared memory that this rank brings in.
  std::size_t shared_bytes() const { return shared_bytes_; }

  template <context::Context W>
  void run(W& w) {
    gather(w);
    release(w);
  }

  // The root returns once every rank has called gather(); any other rank returns once the ranks
  // below it have.
  template <context::Context W>
  void gather(W& w) {
    w.wait_all(reports_of_children_, context::until_reached(++round_));
    if (has_parent_) w.store(report_, round_);
  }
  // Returns once the root has called release(). Requires: gather() has returned, and every rank
  // calls the two in turn.
  template <context::Context W>
  void release(W& w) {
    if (has_parent_) w.wait(release_, context::until_reached(round_));
    for (const Address& child : releases_) w.store(child, round_);
  }

 private:
  std::vector<Address> reports_of_children_;
  std::vector<Address> releases_;  // what this rank stores to let its children go
  Address report_;
  Address release_;
  bool has_parent_ = false;
  std::size_t shared_bytes_ = 0;
  context::Sequence round_;
};

}  // namespace huddle::node

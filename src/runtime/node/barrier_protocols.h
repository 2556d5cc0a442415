// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Barriers of one team: dissemination, and a tree barrier in two phases.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/context/context.h"
#include "runtime/node/lines.h"
#include "runtime/node/locality.h"

namespace huddle::node {

// Dissemination barrier. In each round a rank sets a flag, which announces all arrivals that it
// knows of, and waits for the flags of radix - 1 peers, whose distance grows from round to round.
// With radix 2 a rank waits for one peer in each of log2(ranks) rounds; with radix = ranks it waits
// for all peers in a single round. Fewer rounds are better if ranks share cores, because each wait
// may last until a peer is scheduled.
class DisseminationBarrier {
 public:
  struct Parameters {
    int radix = 2;
    // Number of neighboring ranks whose flags of a round share a cache line.
    int flags_per_line = 1;

    bool operator==(const Parameters&) const = default;
  };

  // Requires: all words of shared memory hold `start`; `radix` is at least 2.
  DisseminationBarrier(const Parameters& parameters, int rank, int ranks, context::Sequence start);

  std::size_t shared_bytes() const { return shared_bytes_; }

  template <context::Context Ctx>
  void run(Ctx& ctx) {
    ++call_;
    for (const Round& round : rounds_) {
      ctx.store(round.announce, call_);
      for (const FlagAddress& other : round.hear) ctx.wait(other, context::until_reached(call_));
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

// Location of the flags by which a parent releases its children.
enum class Release : std::uint8_t {
  same_line,  // next to the child's report, in the same cache line
  own_queue,  // in a second array of flags, which doubles the cache lines
  announced,  // a single flag of the parent, for which all its children wait
};

// Barrier over a tree. Each rank reports to its parent once all its children have reported; then
// the root's release propagates down. The tree may be flat, k-ary, or have the levels of the
// machine, as in the paper of Zhang, Meng and Huo (cores to chip leader, chip leaders to node
// leader). The two phases can be called separately, so that the root can wait for other nodes
// between them.
class TreeBarrier {
 public:
  struct Parameters {
    // Number of children whose flags share a cache line. Each flag has a single writer.
    int flags_per_line = 1;
    Release release = Release::announced;

    bool operator==(const Parameters&) const = default;
  };

  // Requires: all words of shared memory hold `start`.
  TreeBarrier(const Tree& tree, const Parameters& parameters, int rank, context::Sequence start);

  // Returns the size of the shared memory that this rank contributes.
  std::size_t shared_bytes() const { return shared_bytes_; }

  template <context::Context Ctx>
  void run(Ctx& ctx) {
    gather(ctx);
    release(ctx);
  }

  // Returns on the root once every rank has called gather(), and on any other rank once the ranks
  // below it have.
  template <context::Context Ctx>
  void gather(Ctx& ctx) {
    ctx.wait_all(reports_of_children_, context::until_reached(++round_));
    if (has_parent_) ctx.store(report_, round_);
  }
  // Returns once the root has called release().
  // Requires: gather() has returned, and every rank calls gather() and release() alternately.
  template <context::Context Ctx>
  void release(Ctx& ctx) {
    if (has_parent_) ctx.wait(release_, context::until_reached(round_));
    for (const Address& child : releases_) ctx.store(child, round_);
  }

 private:
  std::vector<Address> reports_of_children_;
  std::vector<Address> releases_;  // flags that this rank stores to release its children
  Address report_;
  Address release_;
  bool has_parent_ = false;
  std::size_t shared_bytes_ = 0;
  context::Sequence round_;
};

}  // namespace huddle::node

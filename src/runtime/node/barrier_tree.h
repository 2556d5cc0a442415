// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A barrier over a tree. Each rank reports to its parent once all its children have reported; then
// the root's release comes back down. The tree makes it flat, k-ary, or the three levels of Zhang,
// Meng and Huo (cores to chip leader, chip leaders to node leader). Its two phases can be called
// one by one, so that the root can wait for other nodes between them.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/context/world.h"
#include "runtime/node/lines.h"
#include "runtime/node/shape.h"

namespace huddle::node {

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
  TreeBarrier(const Tree& tree, const Parameters& parameters, int rank, world::Sequence start);

  // Shared memory that this rank brings in.
  std::size_t shared_bytes() const { return shared_bytes_; }

  template <world::World W>
  void run(W& w) {
    gather(w);
    release(w);
  }

  // The root returns once every rank has called gather(); any other rank returns once the ranks
  // below it have.
  template <world::World W>
  void gather(W& w) {
    w.wait_all(reports_of_children_, world::until_reached(++round_));
    if (has_parent_) w.store(report_, round_);
  }
  // Returns once the root has called release(). Requires: gather() has returned, and every rank
  // calls the two in turn.
  template <world::World W>
  void release(W& w) {
    if (has_parent_) w.wait(release_, world::until_reached(round_));
    for (const Address& child : releases_) w.store(child, round_);
  }

 private:
  std::vector<Address> reports_of_children_;
  std::vector<Address> releases_;  // what this rank stores to let its children go
  Address report_;
  Address release_;
  bool has_parent_ = false;
  std::size_t shared_bytes_ = 0;
  world::Sequence round_;
};

}  // namespace huddle::node

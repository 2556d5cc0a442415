// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What communication costs: the one place that turns a machine's figures into predicted times.
// Formulas and their reasons: docs/model.md. All functions are monotone in size and in contention.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"

namespace huddle::machine {

// The same copy with more and more company: curves for some numbers of copiers, an answer for any.
struct CrowdPoint {
  int copiers = 1;
  const Curve* curve = nullptr;
};

// The time of one copy while `copiers` do the same: straight lines between the numbers that were
// measured, and never less with more company (noise that says so is taken out). Beyond the last
// number all share what the last ones had: a line drawn on from two noisy curves could fall with
// size. pre: there is a point.
double crowd_time_ns(std::vector<CrowdPoint> points, double bytes, int copiers);

// Where the bytes of a copy lie before it.
enum class Source {
  own_cache,    // the copier used them last: wherever a working set of that size fits
  peer_wrote,   // the peer has just written them
  near_memory,  // nobody has them cached, memory of the copier's own node
  far_memory,   // the same, memory of the peer's node
};

// Where they go.
enum class Target {
  own_cache,    // lines that only the copier uses
  peer_cached,  // lines that the peer has read since they were last written: each must be taken
                // back
  memory,       // non-temporal stores, past the caches
};

// One copy, and the company it has.
struct Copy {
  double bytes = 0;
  int copier = 0;  // processor that copies
  int peer = 0;    // the other side; the copier itself where there is none
  Source source = Source::own_cache;
  Target target = Target::own_cache;
  int others = 0;                                 // how many others copy at the same time...
  std::string_view others_share = whole_machine;  // ...inside the same group of this level
  HandoffKind read = HandoffKind::read_dirty;     // in which manner, where the peer has written...
  HandoffKind write = HandoffKind::write_cached;  // ...and where it has the target's lines cached
};

class CostModel {
 public:
  // pre: validate(machine) has passed. Keeps a reference.
  explicit CostModel(const Machine& machine);

  // A line written by `from` until `to` has read it. 0 where they are the same processor.
  double line_ns(int from, int to) const;
  // The same while both sides write that line.
  double shared_line_ns(int a, int b) const;
  // A line written by `from` until the last of the readers, all waiting for it, has it.
  double line_to_readers_ns(int from, std::span<const int> readers) const;
  // Each writer sets a flag of its own, `flags_a_line` of them packed into one line; until `reader`
  // has seen all. pre: flags_a_line is 1 or more.
  double flags_ns(std::span<const int> writers, int reader, int flags_a_line) const;

  double copy_ns(const Copy& copy) const;

  // A block passed from one processor to another through shared memory in this manner.
  double handoff_ns(double bytes, int from, int to, HandoffKind kind) const;

  // Bytes read straight out of a peer's memory by `path`, with `others` doing the same.
  // Infinity where the machine has no such path.
  double path_ns(std::string_view path, double bytes, int others) const;
  // The same where each is as far from its peer as these two processors: dearer or cheaper by as
  // much as that made to one that read alone. Where nobody has measured that, as above.
  double path_ns(std::string_view path, double bytes, int others, int reader, int owner) const;

  // Infinity where it is not known.
  double system_ns(SystemCall call) const;

  // A message to another node while `others` of this node send as well. Infinity without a network.
  double message_ns(double bytes, int others) const;

  const Machine& machine() const { return machine_; }

 private:
  // Of the level that joins two different processors.
  const LineCost& line_cost(int a, int b) const;
  double own_copy_ns(const std::vector<CopyCurve>& copies, double bytes, std::string_view level,
                     int copiers) const;
  // Whether stores past the caches were measured by themselves.
  bool is_measured(Target target) const {
    return target == Target::memory && !machine_.copy_past_caches.empty();
  }
  double memory_ns(const Copy& copy, std::size_t rank) const;

  // How long a side of a copy takes at least: by lines that come from or go to a peer, by memory.
  struct Limits {
    double handoff_ns = 0;
    double memory_ns = 0;
  };
  Limits limits_of_source(const Copy& copy) const;
  Limits limits_of_target(const Copy& copy) const;
  double handoffs_ns(const Copy& copy, double source_ns, double target_ns) const;

  const Machine& machine_;
  GroupIndex index_;
  std::vector<const LineCost*> cost_of_level_;  // by joining level; the last is the machine's
  std::vector<int> pair_row_;                   // by processor: its core's row in machine.pairs
};

// What a program would pay for having its arrays in the shared heap.
struct HeapCost {
  // Time in the heap over that in the program's own arrays.
  double loads = 1;
  double stream = 1;
  double spread = 0;  // two measurements of the same thing differ by so much

  bool is_felt() const { return loads > 1 + spread || stream > 1 + spread; }
};

// Nothing where nobody has measured it.
std::optional<HeapCost> heap_cost(const Machine& machine);

}  // namespace huddle::machine

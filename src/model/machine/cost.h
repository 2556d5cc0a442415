// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The cost model: predicts the times of communication from the figures of a machine. docs/model.md
// explains the formulas. All functions are monotone in size and in contention.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/machine/machine.h"

namespace huddle::machine {

// The measured curve for one number of concurrent copiers.
struct CrowdPoint {
  int copiers = 1;
  const Curve* curve = nullptr;
};

// Returns the time of one copy while `copiers` cores copy at the same time, itself included.
// Interpolates linearly between the measured numbers of copiers. Treats measured times that fall
// with the number of copiers as noise, so that the result never does. Beyond the largest measured
// number, all copiers share its total bandwidth, because extrapolation from two noisy curves could
// fall with size.
// Requires: there is at least one point, and the points ascend in copiers.
double crowd_time_ns(std::span<const CrowdPoint> points, double bytes, int copiers);

// The location of the source of a copy.
enum class Source {
  own_cache,    // the copier used it last: in its caches as far as the working set fits
  peer_wrote,   // the peer has just written it
  near_memory,  // uncached, in memory of the copier's own NUMA node
  far_memory,   // uncached, in memory of the peer's NUMA node
};

// The location of the destination of a copy.
enum class Target {
  own_cache,    // cache lines that only the copier uses
  peer_cached,  // cache lines that the peer has read since they were last written: each must be
                // invalidated there
  memory,       // non-temporal stores that bypass the caches
};

// A copy and its concurrent copies.
struct Copy {
  double bytes = 0;
  int copier = 0;  // hardware thread that copies
  int peer = 0;    // the other side; the copier itself if there is none
  Source source = Source::own_cache;
  Target target = Target::own_cache;
  int others = 0;                                 // number of concurrent copies...
  std::string_view others_share = whole_machine;  // ...within the same group of this level
  HandoffKind read = HandoffKind::read_dirty;     // used if the peer wrote the source
  HandoffKind write = HandoffKind::write_cached;  // used if the peer has cached the target
};

// Arguments such as `from`, `copier` and `reader` are hardware threads of the machine's topology.
class CostModel {
 public:
  // Keeps references into the machine, which must not change afterwards.
  // Requires: validate(machine) succeeds.
  explicit CostModel(const Machine& machine);

  // Returns the time from a store to a cache line by `from` until `to` has read it; 0 if both are
  // equal.
  double line_ns(int from, int to) const;
  // Returns the same time if both sides write that cache line.
  double shared_line_ns(int a, int b) const;
  // Returns the time from a store to a cache line by `from` until the last of the waiting readers
  // has read it.
  double line_to_readers_ns(int from, std::span<const int> readers) const;
  // Returns the time until `reader` has seen one flag of each writer, with `flags_a_line` flags per
  // cache line.
  // Requires: flags_a_line >= 1.
  double flags_ns(std::span<const int> writers, int reader, int flags_a_line) const;

  // Returns how much later than a single store to a line of one reader the last of several stores
  // becomes visible, one to a line of each reader, all of which have cached their line. It is not 0
  // if there are more of them than outstanding misses of a core.
  double queued_stores_ns(int writer, std::span<const int> readers) const;
  // Returns the least time between two loads by one core of lines that another has written.
  double load_step_ns(int writer, int reader) const;
  // Returns the number of lines that a core can have requested at the same time.
  int outstanding_misses() const { return outstanding_misses_; }

  double copy_ns(const Copy& copy) const;

  // Returns the time to transfer a block from one hardware thread to another through shared memory.
  double handoff_ns(double bytes, int from, int to, HandoffKind kind) const;

  // Returns the time to read a peer's memory by `path` while `others` more cores do the same;
  // infinity if the machine file lacks that path.
  double path_ns(std::string_view path, double bytes, int others) const;
  // Like path_ns() above, scaled by the measured effect of the distance between `reader` and
  // `owner` on a single reader. Equal to it if that effect was not measured.
  double path_ns(std::string_view path, double bytes, int others, int reader, int owner) const;

  // Returns infinity if the cost is unknown.
  double system_ns(SystemCall call) const;

  // Returns the time of a message to another node while `others` more ranks of this node send;
  // infinity without a network.
  double message_ns(double bytes, int others) const;

  const Machine& machine() const { return machine_; }

 private:
  // Returns the cost at the innermost level that two different hardware threads share.
  const LineCost& line_cost(int a, int b) const;
  // The same as the functions without it, for different hardware threads whose line_cost() is
  // known.
  double line_ns(int from, int to, const LineCost& cost) const;
  double shared_line_ns(int a, int b, const LineCost& cost) const;
  double load_step_ns(int writer, int reader, const LineCost& cost) const;
  // The measured copies that apply to copiers that share a level, by the level's position.
  using CopiesByLevel = std::vector<std::vector<CrowdPoint>>;
  double own_copy_ns(const CopiesByLevel& copies, double bytes, std::string_view level,
                     int copiers) const;
  // Returns whether there are separate measurements of copies to this target.
  bool is_measured(Target target) const {
    return target == Target::memory && !machine_.copy_past_caches.empty();
  }
  double memory_ns(const Copy& copy, std::size_t rank) const;
  struct Path {
    std::string_view name;
    std::vector<CrowdPoint> anywhere;
    std::vector<const PathCurve*> of_level;  // null if the distance was not measured
  };
  const Path* find_path(std::string_view name) const;

  // Lower bounds of the time of one side of a copy: for the lines that move from or to a peer, and
  // for memory.
  struct Limits {
    double handoff_ns = 0;
    double memory_ns = 0;
  };
  Limits limits_of_source(const Copy& copy) const;
  Limits limits_of_target(const Copy& copy) const;
  double handoffs_ns(const Copy& copy, double source_ns, double target_ns) const;

  const Machine& machine_;
  int outstanding_misses_;
  GroupIndex index_;
  std::vector<const LineCost*> cost_of_level_;  // by joining level; the last is the machine's
  std::vector<int> pair_row_;                   // by hardware thread: its core's row in pairs
  // The entries of the machine file that apply, by the position of a level.
  CopiesByLevel copies_;
  CopiesByLevel copies_past_caches_;
  std::vector<const MemoryCost*> memory_of_level_;
  // A curve, and the cost of a line at the level where it was measured.
  struct Handoff {
    const HandoffCurve* curve = nullptr;  // null if none was measured
    const LineCost* measured = nullptr;   // null if unknown
  };
  std::array<std::vector<Handoff>, handoff_facts.size()> handoff_of_level_;  // by kind
  std::vector<Path> paths_;
};

// The slowdown of an application whose arrays are in the shared heap.
struct HeapCost {
  // Ratio of the time in the heap to that in arrays from the application's malloc.
  double loads = 1;
  double stream = 1;
  double spread = 0;  // relative difference between repeated measurements

  bool is_felt() const { return loads > 1 + spread || stream > 1 + spread; }
};

// Returns the measured slowdown, or nothing if it was not measured.
std::optional<HeapCost> heap_cost(const Machine& machine);

}  // namespace huddle::machine

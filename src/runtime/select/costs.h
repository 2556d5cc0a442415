// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Predicted times of single steps, such as a copy or a flag from one rank to another. The predicted
// times of the algorithms are composed of these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/machine/cost.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/locality.h"
#include "runtime/single_copy/heap_memory.h"
#include "runtime/single_copy/peer_memory.h"

namespace huddle::select {

// The curves of the cost model that a method's descriptor names.
struct CopyMethodCurves {
  machine::HandoffKind write;
  machine::HandoffKind read;
  machine::HandoffKind ring;
  std::optional<machine::HandoffKind> own;
};
const CopyMethodCurves& curves_of(memory::CopyMethod method);

// Predicts the time to pass `bytes` through a ring between two hardware threads with this method.
// Returns infinity if the machine file has no such curve.
double ring_ns(const machine::CostModel& model, memory::CopyMethod method, double bytes, int from,
               int to);

// Returns whether the method is allowed and this CPU supports its kernels.
bool is_possible(memory::CopyMethod method, memory::CopyMethods allowed);

// Returns the possible method whose measured hand-off through a ring is predicted to be the fastest
// for this size and pair, given that the reader has the block's lines cached. Returns plain if no
// curve is known or all are equal.
memory::CopyMethod copy_method_for(const machine::CostModel& model, double bytes, int from, int to,
                                   memory::CopyMethods allowed,
                                   const memory::CopyMethodSet& avoided = {});

// Return the fastest kernel for each size: to read a block that a peer has written, or to write one
// that a peer has read. Used for copies whose plan does not select a kernel.
memory::KernelBySize kernels_of_reads(const machine::CostModel& model, int from, int to);
memory::KernelBySize kernels_of_writes(const machine::CostModel& model, int from, int to);

// A block, or a piece of a block of of_bytes, that passes through buffers with a total size of
// buffers_bytes.
struct Piece {
  std::size_t bytes = 0;
  std::size_t of_bytes = 0;
  std::size_t buffers_bytes = 0;
};

// A method of copying a block between a peer's memory and this rank's.
struct PeerCopy {
  // Returns the method for a mapped buffer, which is read like any other data that a peer has
  // written.
  static constexpr PeerCopy of_mapped() { return {single_copy::heap, 0, true}; }

  std::string_view name;  // name of the path in machine files; `heap` if mapped
  single_copy::PathNumber path = 0;
  bool mapped = false;
};

class Costs {
 public:
  // The methods that the functions below select are avoided only if there is another one.
  Costs(const machine::CostModel& model, const node::RankLocality& locality,
        const memory::CopyMethodSet& avoided = {});

  int ranks() const { return locality_.ranks(); }
  const node::RankLocality& locality() const { return locality_; }

  // Returns the time until `to` sees a line that `from` wrote. If ranks share a hardware thread,
  // the time until the waiting rank is scheduled is included.
  double line_ns(int from, int to) const { return model_.line_ns(pu(from), pu(to)) + turn_ns(to); }
  // The same for a line that was written before the reader accesses it.
  double written_line_ns(int from, int to) const { return model_.line_ns(pu(from), pu(to)); }
  double shared_line_ns(int a, int b) const {
    return model_.shared_line_ns(pu(a), pu(b)) + turn_ns(b);
  }
  // Returns the time until the last reader has a line that `from` wrote.
  double line_to_ns(int from, std::span<const int> readers) const;
  // Returns how much longer line_to_ns() takes than the farthest reader would take alone.
  double queue_ns(int from, std::span<const int> readers) const;
  // Returns the time until `reader` has seen the flags of all writers.
  double flags_ns(std::span<const int> writers, int reader, int flags_a_line) const;
  // Returns how much longer a rank needs to store a flag in a line of each reader than for one
  // flag.
  double queued_stores_ns(int from, std::span<const int> readers) const {
    return model_.queued_stores_ns(pu(from), pus(readers));
  }
  // Returns the time until every rank has seen the flags of all others; each flag is in a line of
  // its own, which all others read.
  double synchronization_ns() const { return synchronization_ns_; }
  // Returns the time until rank 0 has seen the flags of all others, each in a line of its own.
  double flags_to_first_ns() const { return flags_to_first_ns_; }

  // Returns the time that data behind a flag add to that of the flag: the time of the cache lines
  // after the first.
  double rest_ns(std::size_t bytes, int from, int to) const;
  // Returns the time to read a block that `from` has just written, while `others` read as well.
  double read_ns(std::size_t bytes, int from, int to, int others) const {
    return copy_out_ns(bytes, from, to, others, memory::CopyKernel::plain);
  }
  // The same if the block was written by this method. A block written by non-temporal stores is
  // read from memory.
  double read_ns(std::size_t bytes, int from, int to, int others, memory::CopyMethod method) const;
  // The same for one of several blocks that are read one after the other and have a total size of
  // of_bytes.
  double read_share_ns(std::size_t bytes, std::size_t of_bytes, int from, int to, int others,
                       memory::CopyMethod method) const;
  // Returns the time to write a block into buffers with a total size of buffers_bytes, after other
  // ranks (or, with ping-pong, this rank) have read them. Writing to larger buffers takes longer
  // because their lines were used longer ago.
  double write_ns(std::size_t bytes, std::size_t buffers_bytes, int rank, int reader,
                  memory::CopyMethod method) const;
  // The same followed by the block's flag. The flag's line and the block's first line are
  // transferred at the same time, and data in the flag's line cost nothing.
  double show_ns(std::size_t bytes, std::size_t buffers_bytes, int rank, int reader,
                 memory::CopyMethod method) const;
  // Returns the time to pass a block through memory shared with `to`, which reads it while it is
  // being written.
  double stream_ns(std::size_t bytes, int from, int to, memory::CopyMethod method) const;
  // Returns the time to reduce a block of this rank's data into another. The data come from the
  // cache that holds all data_bytes.
  double reduce_ns(std::size_t bytes, std::size_t data_bytes, int rank) const;

  // Returns the time of a step if at_once ranks perform it at the same time and a rank alone takes
  // `ns`: ranks that share a hardware thread run one after the other. (Functions with a parameter
  // `others` include this.)
  double in_turns_ns(double ns, int at_once) const {
    return ns * std::max(1.0, static_cast<double>(at_once) / processors_);
  }
  double by_all_ns(double ns) const { return in_turns_ns(ns, ranks()); }

  // Returns the time to copy `bytes` of a rank's input to an output while all ranks do so.
  // all_bytes is the total size of all inputs and outputs, which determines whether the copy runs
  // at the rate of a cache or of memory.
  double move_ns(std::size_t bytes, std::size_t all_bytes, memory::CopyKernel kernel) const;
  // Returns the fastest kernel for results of all_bytes in total: non-temporal if the caches cannot
  // hold them. The comparison includes the time in which the caller reads the results afterwards.
  memory::CopyKernel kernel_of_results(std::size_t all_bytes) const;
  // Returns the total if each hardware thread had `bytes`.
  std::size_t if_every_processor_had(std::size_t bytes) const {
    return static_cast<std::size_t>(processors_ * static_cast<double>(bytes));
  }
  // Returns the time to copy a rank's own block from its input to its output.
  double own_ns(std::size_t bytes, std::size_t all_bytes, memory::CopyKernel kernel) const {
    return by_all_ns(move_ns(bytes, all_bytes, kernel));
  }

  // Returns the time to copy a block directly from a peer's memory through that path while `others`
  // do so as well. Returns infinity if the machine file has no figures for it.
  double path_ns(std::string_view path, std::size_t bytes, int others) const;

  // The same for mapped memory or a path, as `by` selects.
  double fetch_ns(std::size_t bytes, int others, const PeerCopy& by) const;
  // The same into lines that the peer has read since they were last written.
  double fetch_again_ns(std::size_t bytes, int others, const PeerCopy& by) const;
  // Returns the time to copy a block directly into a peer's memory after the peer has used the old
  // contents.
  double push_ns(std::size_t bytes, int others, const PeerCopy& by) const;

  bool avoids(memory::CopyMethod method) const { return avoided_.test(method.number()); }
  // Returns the method for a block that passes through memory that its readers have cached and that
  // is read while it is written. `to` is the only reader or one of them.
  memory::CopyMethod copy_method_for(std::size_t bytes, int from, int to,
                                     memory::CopyMethods allowed) const;
  // The same for a piece that is read once it is complete.
  memory::CopyMethod block_copy_method_for(const Piece& piece, int from, int to,
                                           memory::CopyMethods allowed) const;

  // Returns the methods for data that one rank publishes to all others. With two ranks there is a
  // single reader.
  memory::CopyMethods shown_to_all(memory::CopyMethods to_single_reader,
                                   memory::CopyMethods to_several = memory::to_many_readers) const {
    return ranks() == 2 ? to_single_reader : to_several;
  }

  // Returns the rank that is farthest from this one.
  int farthest_from(int rank) const {
    return rank == 0 ? farthest_from_first_ : found_farthest_from(rank);
  }
  // Returns all ranks but this one.
  std::vector<int> others_than(int rank) const;

 private:
  // Returns the time until every other rank of its hardware thread has run once.
  double turn_ns(int rank) const { return turn_ns_[static_cast<std::size_t>(rank)]; }
  // Predicts the copy if `method` provides the read and write curves.
  double copy_ns(machine::Copy copy, memory::CopyMethod method) const;
  double copy_out_ns(std::size_t bytes, int from, int to, int others,
                     memory::CopyMethod method) const;
  // Returns the time to copy from or to mapped memory by the fastest kernel.
  double copy_mapped_ns(std::size_t bytes, int others, machine::Source source,
                        machine::Target target) const;
  // Returns the additional time to write lines that a peer has cached, compared with reading lines
  // that it has written.
  double dearer_to_write_ns(std::size_t bytes) const;
  // Returns the block's share of the hand-off curve `kind` at the size of all buffers.
  double share_ns(machine::HandoffKind kind, std::size_t bytes, std::size_t buffers_bytes, int from,
                  int to) const;
  // Returns one hardware thread's share of all data, as the size of a copy that touches that much.
  std::size_t share_of_processor(std::size_t all_bytes) const {
    constexpr double touched_by_copy = 2;
    return static_cast<std::size_t>(static_cast<double>(all_bytes) / touched_by_copy / processors_);
  }
  // Returns the time of a copy on one hardware thread while all others copy as well.
  double copy_by_all_ns(double bytes, machine::Source source, machine::Target target) const;
  int pu(int rank) const { return locality_.pus[static_cast<std::size_t>(rank)]; }
  std::vector<int> pus(std::span<const int> ranks) const;
  int found_farthest_from(int rank) const;

  const machine::CostModel& model_;
  const node::RankLocality& locality_;
  std::vector<double> turn_ns_;  // by rank
  double processors_ = 1;
  memory::CopyMethodSet avoided_;
  // Computed once, because most algorithms need them for each of their plans.
  int farthest_from_first_ = 0;
  double flags_to_first_ns_ = 0;
  double synchronization_ns_ = 0;
};

// Returns the number of parts of `part` bytes that `all` bytes have; the last part may be shorter.
inline double ceil_div(std::size_t all, std::size_t part) {
  const std::size_t parts = (all + part - 1) / part;
  return static_cast<double>(parts);
}

// Returns when each rank receives a flag that goes down the tree: a parent signals all its children
// at the same time.
std::vector<double> times_down(const Costs& costs, const node::Tree& tree);
double last(const std::vector<double>& times);

}  // namespace huddle::select

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The machine's prices, asked by rank: what the closed forms of the algorithms are made of.
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

// By which method a block goes through shared memory to readers that have its lines cached: by that
// whose measured hand-off through a ring is predicted to take least, at that size and between those
// two.

// The curves that a method's descriptor names, as the cost model knows them.
struct CopyMethodCurves {
  machine::HandoffKind write;
  machine::HandoffKind read;
  machine::HandoffKind ring;
  std::optional<machine::HandoffKind> own;
};
const CopyMethodCurves& curves_of(memory::CopyMethod method);

// `bytes` through a ring from one processor to another, by this method.
// Infinity where the machine has no such curve.
double ring_ns(const machine::CostModel& model, memory::CopyMethod method, double bytes, int from,
               int to);

// Whether blocks may go so on this processor, to such readers.
bool is_possible(memory::CopyMethod method, memory::CopyMethods allowed);

// The cheapest method of those possible; plain where nothing is known or all the same.
memory::CopyMethod copy_method_for(const machine::CostModel& model, double bytes, int from, int to,
                                   memory::CopyMethods allowed);

// By which kernel a block is copied that a peer has written, or that a peer has read and this rank
// writes, with no plan that could say so.
memory::KernelBySize kernels_of_reads(const machine::CostModel& model, int from, int to);
memory::KernelBySize kernels_of_writes(const machine::CostModel& model, int from, int to);

// A block, or a piece of one, that passes through buffers of so much memory.
struct Piece {
  std::size_t bytes = 0;
  std::size_t of_bytes = 0;
  std::size_t buffers_bytes = 0;
};

// How a block is copied between a peer's own memory and this rank's.
struct PeerCopy {
  // Like any other that a peer has written: there where both have mapped it.
  static constexpr PeerCopy of_mapped() { return {single_copy::heap, 0, true}; }

  std::string_view name;  // of a path, as in machine files
  single_copy::PathNumber path = 0;
  bool mapped = false;
};

class Prices {
 public:
  Prices(const machine::CostModel& model, const node::RankLocality& locality);

  int ranks() const { return locality_.ranks(); }
  const node::RankLocality& locality() const { return locality_; }

  // All that a rank waits for it has to be awake for: where ranks share a processor, it waits for
  // its turn as well.
  double line_ns(int from, int to) const { return model_.line_ns(pu(from), pu(to)) + turn_ns(to); }
  // A line that was written before anybody looks.
  double written_line_ns(int from, int to) const { return model_.line_ns(pu(from), pu(to)); }
  double shared_line_ns(int a, int b) const {
    return model_.shared_line_ns(pu(a), pu(b)) + turn_ns(b);
  }
  // Until the last of the readers has a line that `from` wrote.
  double line_to_ns(int from, std::span<const int> readers) const;
  // How much longer that takes than for one alone, the one farthest away.
  double queue_ns(int from, std::span<const int> readers) const;
  // Until `reader` has seen the flags of all these.
  double flags_ns(std::span<const int> writers, int reader, int flags_a_line) const;
  // Until everybody has seen the flags of all others, each in a line that all others read.
  double meeting_ns() const;

  // Data behind a flag that arrives anyway: what the lines after the first add.
  double rest_ns(std::size_t bytes, int from, int to) const;
  // A block that `from` has just written, read while `others` read as well.
  double read_ns(std::size_t bytes, int from, int to, int others) const {
    return copy_out_ns(bytes, from, to, others, memory::CopyKernel::plain);
  }
  // The same passed in this manner: what went past the caches has to be had from there.
  double read_ns(std::size_t bytes, int from, int to, int others, memory::CopyMethod method) const;
  // The same of a block that is one of several, one after the other, of so much in all.
  double read_share_ns(std::size_t bytes, std::size_t of_bytes, int from, int to, int others,
                       memory::CopyMethod method) const;
  // A block written where others have read before, or, where lines return, where this rank has,
  // into buffers of so much memory in all: the more there are, the longer ago its lines were last
  // used.
  double write_ns(std::size_t bytes, std::size_t buffers_bytes, int rank, int reader,
                  memory::CopyMethod method) const;
  // The same with its flag behind it: the flag's line and the block's first are on their way
  // together. What rides in the flag's line costs nothing besides.
  double show_ns(std::size_t bytes, std::size_t buffers_bytes, int rank, int reader,
                 memory::CopyMethod method) const;
  // A block that goes through memory shared with `to` while it is still being written.
  double stream_ns(std::size_t bytes, int from, int to, memory::CopyMethod method) const;
  // A block of one's own data joined to another, the data being so many bytes in all: they come
  // from the cache that holds them all.
  double join_ns(std::size_t bytes, std::size_t data_bytes, int rank) const;

  // What takes one rank so long, when so many do it at the same time: those that share a processor
  // do it one after the other. (A price that is told of others has that in it.)
  double in_turns_ns(double ns, int at_once) const {
    return ns * std::max(1.0, static_cast<double>(at_once) / processors_);
  }
  double by_all_ns(double ns) const { return in_turns_ns(ns, ranks()); }

  // So much of what ranks hand in copied to where they want it, while all do so. All together have
  // so many bytes of either: it goes at the pace of the caches that hold them, or of memory.
  double move_ns(std::size_t bytes, std::size_t all_bytes, memory::CopyKernel kernel) const;
  // By which of the kernels what all want is written in the least time, so much there is in all:
  // past the caches where they do not hold it. That whoever called has to read it then is counted.
  memory::CopyKernel kernel_of_results(std::size_t all_bytes) const;
  // So much in all.
  std::size_t if_every_processor_had(std::size_t bytes) const {
    return static_cast<std::size_t>(processors_ * static_cast<double>(bytes));
  }
  // A rank's own block, from one of its buffers to the other.
  double own_ns(std::size_t bytes, std::size_t all_bytes, memory::CopyKernel kernel) const {
    return by_all_ns(move_ns(bytes, all_bytes, kernel));
  }

  // A block copied straight out of a peer's memory by that path while `others` do so as well;
  // infinity where the machine has no figures for that.
  double path_ns(std::string_view path, std::size_t bytes, int others) const;

  // The same in either way.
  double fetch_ns(std::size_t bytes, int others, const PeerCopy& by) const;
  // The same into lines that the peer has read since they were last written.
  double fetch_again_ns(std::size_t bytes, int others, const PeerCopy& by) const;
  // A block copied straight into a peer's memory, whose owner has used what was there.
  double push_ns(std::size_t bytes, int others, const PeerCopy& by) const;

  // In which manner so much passes through memory that readers have cached, `to` being one of them
  // or the only one, and read meanwhile.
  memory::CopyMethod copy_method_for(std::size_t bytes, int from, int to,
                                     memory::CopyMethods allowed) const;
  // The same for a piece that is read when it is whole.
  memory::CopyMethod block_copy_method_for(const Piece& piece, int from, int to,
                                           memory::CopyMethods allowed) const;

  // Of what one rank shows to all others: between two it has a single reader.
  memory::CopyMethods shown_to_all(memory::CopyMethods to_single_reader,
                                   memory::CopyMethods to_several = memory::to_many_readers) const {
    return ranks() == 2 ? to_single_reader : to_several;
  }

  // The rank that is farthest from this one.
  int farthest_from(int rank) const;
  // All but this one.
  std::vector<int> others_than(int rank) const;

 private:
  // Until everybody else of its processor has had it once.
  double turn_ns(int rank) const { return turn_ns_[static_cast<std::size_t>(rank)]; }
  // By such a copy, between a peer and a rank.
  double copy_ns(machine::Copy copy, memory::CopyMethod method) const;
  double copy_out_ns(std::size_t bytes, int from, int to, int others,
                     memory::CopyMethod method) const;
  // From or to what is mapped, by whichever kernel is the fastest.
  double copy_mapped_ns(std::size_t bytes, int others, machine::Source source,
                        machine::Target target) const;
  // By how much it takes longer to write what a peer has cached than to read what it has written.
  double dearer_to_write_ns(std::size_t bytes) const;
  // By the hand-off curve of that manner at the size of all buffers, the block's share of it.
  double share_ns(machine::HandoffKind kind, std::size_t bytes, std::size_t buffers_bytes, int from,
                  int to) const;
  // Of the data of all, what a processor has: as much as a copy of so many bytes touches.
  std::size_t share_of_processor(std::size_t all_bytes) const {
    constexpr double touched_by_copy = 2;
    return static_cast<std::size_t>(static_cast<double>(all_bytes) / touched_by_copy / processors_);
  }
  // A copy on a processor while all others copy as well.
  double copy_by_all_ns(double bytes, machine::Source source, machine::Target target) const;
  int pu(int rank) const { return locality_.pus[static_cast<std::size_t>(rank)]; }
  std::vector<int> pus(std::span<const int> ranks) const;

  const machine::CostModel& model_;
  const node::RankLocality& locality_;
  std::vector<double> turn_ns_;  // by rank
  double processors_ = 1;
};

// How many parts of `part` bytes are in `all`, the last one perhaps shorter.
inline double ceil_div(std::size_t all, std::size_t part) {
  const std::size_t parts = (all + part - 1) / part;
  return static_cast<double>(parts);
}

// When each rank has a word that goes down the tree: each parent tells all its children at once.
std::vector<double> times_down(const Prices& prices, const node::Tree& tree);
double last(const std::vector<double>& times);

}  // namespace huddle::select

// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The collective operations; Request, the properties of a call that are equal on all ranks and
// determine the choice of an algorithm; and Call, the call of one rank.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/memory/reduction.h"
#include "runtime/node/blocks.h"

namespace huddle::select {

// Size classes. One choice serves all sizes of a class: it is made for the largest size, and a
// choice made for that size can serve all smaller ones. There are four classes per power of two:
// rounding up adds at most a quarter.
inline constexpr std::size_t classes_an_octave = 4;
inline constexpr std::size_t size_classes = 64 * classes_an_octave;

constexpr std::size_t largest_in(std::size_t size_class) {
  const std::size_t octave = size_class / classes_an_octave;
  const std::size_t step = size_class % classes_an_octave;
  const std::size_t unit = std::size_t{1} << octave;
  // No intermediate result may exceed 2^64, even for the largest class.
  return unit + unit / classes_an_octave * step +
         unit % classes_an_octave * step / classes_an_octave;
}

// Returns the class of `bytes`: the first one whose largest size is at least `bytes`.
constexpr std::size_t size_class_of(std::size_t bytes) {
  if (bytes <= 1) return 0;
  const auto octave = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // below `bytes`
  const std::size_t unit = std::size_t{1} << octave;
  // Number of quarters of the octave, rounded up, in 1 .. classes_an_octave.
  const std::size_t above = bytes - unit;
  const std::size_t quarter = unit / classes_an_octave;
  const std::size_t step = quarter == 0 ? (above * classes_an_octave + unit - 1) / unit
                                        : (above + quarter - 1) / quarter;
  return octave * classes_an_octave + step;
}

enum class Operation {
  barrier,
  bcast,
  reduce,
  allreduce,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  gather,
  gatherv,
  scatter,
  scatterv,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
};

// The phases of a barrier that run in a call. Between nodes, a node's first rank waits for the
// other nodes after the gather phase and before the release phase.
enum class BarrierPhase : std::uint8_t {
  both,     // an ordinary barrier
  gather,   // the first rank returns once every rank of the node has called
  release,  // every other rank returns once the first rank has called
};
// Returns an empty name for a whole barrier.
constexpr std::string_view name(BarrierPhase phase) {
  switch (phase) {
    case BarrierPhase::both:
      return {};
    case BarrierPhase::gather:
      return "gather";
    case BarrierPhase::release:
      return "release";
  }
  return {};
}

// Size of a rank's input or output in a call, relative to the bytes of a request.
enum class Amount {
  nothing,
  all,
  all_at_root,       // nothing on the other ranks
  all_but_at_root,   // nothing on the root
  share,             // divided by the number of ranks
  for_each,          // one block of that size for each rank
  for_each_at_root,  // nothing on the other ranks
};

struct Traits {
  Operation operation;
  std::string_view name;
  Amount in;
  Amount out;
  // The operation with equal blocks, for operations whose blocks may differ.
  Operation regular_form;
  bool reduces = false;  // combines elements instead of only moving them
  // Only the sender and the receiver know the size of a block, so that no choice can depend on it.
  bool has_pairwise_sizes = false;
};
// Indexed by Operation.
inline constexpr std::array<Traits, 17> all_traits = [] {
  using enum Operation;
  using enum Amount;
  constexpr bool combined = true;
  constexpr bool by_pairs = true;
  return std::array<Traits, 17>{{
      {barrier, "barrier", nothing, nothing, barrier},
      {bcast, "bcast", all_at_root, all_but_at_root, bcast},
      {reduce, "reduce", all, all_at_root, reduce, combined},
      {allreduce, "allreduce", all, all, allreduce, combined},
      {allgather, "allgather", all, for_each, allgather},
      {allgatherv, "allgatherv", all, for_each, allgather},
      {alltoall, "alltoall", for_each, for_each, alltoall},
      {alltoallv, "alltoallv", for_each, for_each, alltoall, !combined, by_pairs},
      {alltoallw, "alltoallw", for_each, for_each, alltoall, !combined, by_pairs},
      {gather, "gather", all, for_each_at_root, gather},
      {gatherv, "gatherv", all, for_each_at_root, gather, !combined, by_pairs},
      {scatter, "scatter", for_each_at_root, all, scatter},
      {scatterv, "scatterv", for_each_at_root, all, scatter, !combined, by_pairs},
      {reduce_scatter, "reduce_scatter", all, share, reduce_scatter_block, combined},
      {reduce_scatter_block, "reduce_scatter_block", all, share, reduce_scatter_block, combined},
      {scan, "scan", all, all, scan, combined},
      {exscan, "exscan", all, all, exscan, combined},
  }};
}();
constexpr const Traits& traits_of(Operation operation) {
  return all_traits[static_cast<std::size_t>(operation)];
}

inline constexpr std::array<Operation, all_traits.size()> operations = [] {
  std::array<Operation, all_traits.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Operation>(i);
  return all;
}();
static_assert([] {
  for (const Operation operation : operations) {
    if (traits_of(operation).operation != operation) return false;
  }
  return true;
}());
inline constexpr std::array<std::string_view, operations.size()> operation_names = [] {
  std::array<std::string_view, operations.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = all_traits[i].name;
  return names;
}();
constexpr std::string_view name(Operation operation) { return traits_of(operation).name; }

// Finds an operation by its name or by its MPI name: "bcast", "MPI_Bcast".
std::optional<Operation> operation_named(std::string_view word);

constexpr bool has_pairwise_sizes(Operation operation) {
  return traits_of(operation).has_pairwise_sizes;
}
// Returns whether calls have a size that all ranks know. Those of a barrier have no size.
constexpr bool has_common_size(Operation operation) {
  return operation != Operation::barrier && !has_pairwise_sizes(operation);
}
constexpr Operation regular_form(Operation operation) { return traits_of(operation).regular_form; }
constexpr bool reduces(Operation operation) { return traits_of(operation).reduces; }
constexpr bool reduces_to_blocks(Operation operation) {
  return traits_of(operation).out == Amount::share;
}
// Return whether the root receives a block from each rank, or sends one to each.
constexpr bool gathers_at_root(Operation operation) {
  return traits_of(operation).out == Amount::for_each_at_root;
}
constexpr bool scatters_from_root(Operation operation) {
  return traits_of(operation).in == Amount::for_each_at_root;
}
// Returns whether the operation moves blocks, of which some rank has one for each rank.
constexpr bool exchanges_blocks(Operation operation) {
  const Traits& traits = traits_of(operation);
  return traits.in == Amount::for_each || traits.out == Amount::for_each ||
         gathers_at_root(operation) || scatters_from_root(operation);
}

struct Request {
  Operation operation = Operation::barrier;
  // Size of one rank's data: all of it in a reduction, otherwise one block, the largest one if they
  // differ.
  std::size_t bytes = 0;
  std::size_t element_bytes = 1;  // of a reduction; otherwise 1
  // The inputs of all ranks are in memory that their peers have mapped.
  bool mapped = false;
  // For a broadcast: whether its root differs from that of the previous one. If so, a rank that now
  // receives into the buffer it sent from writes cache lines that its readers still hold.
  bool root_moved = false;
  BarrierPhase barrier_phase = BarrierPhase::both;

  bool operator==(const Request&) const = default;
};

// Returns the total over all ranks if the request is for one byte.
constexpr std::size_t on_all_ranks(Amount amount, std::size_t ranks) {
  switch (amount) {
    case Amount::nothing:
      return 0;
    case Amount::all_at_root:
    case Amount::share:
      return 1;
    case Amount::all_but_at_root:
      return ranks - 1;
    case Amount::all:
    case Amount::for_each_at_root:
      return ranks;
    case Amount::for_each:
      return ranks * ranks;
  }
  return 0;
}
// Returns the amount on one rank for a request of `bytes`.
constexpr double on_rank(Amount amount, double bytes, bool is_root, int ranks) {
  switch (amount) {
    case Amount::nothing:
      return 0;
    case Amount::all:
      return bytes;
    case Amount::all_at_root:
      return is_root ? bytes : 0;
    case Amount::all_but_at_root:
      return is_root ? 0 : bytes;
    case Amount::share:
      return bytes / ranks;
    case Amount::for_each:
      return bytes * ranks;
    case Amount::for_each_at_root:
      return is_root ? bytes * ranks : 0;
  }
  return 0;
}

// Returns the size of the inputs and outputs of all ranks together.
constexpr std::size_t data_bytes(const Request& request, int ranks) {
  const Traits& traits = traits_of(request.operation);
  const auto all = static_cast<std::size_t>(ranks);
  return (on_all_ranks(traits.in, all) + on_all_ranks(traits.out, all)) * request.bytes;
}

// Sizes of one rank's input and output. Reductions to blocks are taken to have equal blocks.
struct OwnData {
  double in_bytes = 0;
  double out_bytes = 0;
};
constexpr OwnData own_data(const Request& request, bool is_root, int ranks) {
  const Traits& traits = traits_of(request.operation);
  const auto bytes = static_cast<double>(request.bytes);
  return {on_rank(traits.in, bytes, is_root, ranks), on_rank(traits.out, bytes, is_root, ranks)};
}

// Returns the request of a benchmark's call. Reductions use doubles; a reduction to blocks has one
// block of `bytes` for each rank.
constexpr Request request_of(Operation operation, std::size_t bytes, int ranks) {
  const bool in_blocks = reduces_to_blocks(operation);
  return {.operation = operation,
          .bytes = in_blocks ? bytes * static_cast<std::size_t>(ranks) : bytes,
          .element_bytes = reduces(operation) ? sizeof(double) : 1};
}

// One call of a collective by this rank.
struct Call {
  Operation operation = Operation::barrier;
  const void* input = nullptr;
  void* output = nullptr;
  // Number of elements of a reduction; otherwise bytes: of one block if data move in blocks, of the
  // largest block if sizes differ, 0 if only the sender and the receiver of a block know its size.
  std::size_t count = 0;
  const memory::Reduction* reduction = nullptr;
  int root = 0;
  // For operations on blocks: the blocks sent to and received from each rank. For a reduction to
  // blocks, `incoming` contains the number of elements that each rank receives.
  node::Blocks outgoing = {};
  node::Blocks incoming = {};
  // The input is in the output buffer.
  bool in_place = false;
  BarrierPhase barrier_phase = BarrierPhase::both;

  std::size_t element_bytes() const { return reduction == nullptr ? 1 : reduction->element_bytes; }
};

// Returns the call that `rank` makes to exchange equal blocks of block_bytes, without its buffers.
// Requires: the operation exchanges blocks.
inline Call exchange_of(Operation operation, std::size_t block_bytes, int rank, int root) {
  const Traits& traits = traits_of(operation);
  const bool is_rooted = gathers_at_root(operation) || scatters_from_root(operation);
  const auto blocks = [&](Amount amount) {
    if (amount == Amount::all) return node::Blocks::only(is_rooted ? root : rank, block_bytes);
    const bool has_some = amount == Amount::for_each || rank == root;
    return has_some ? node::Blocks::even(block_bytes) : node::Blocks();
  };
  return {.operation = operation,
          .count = block_bytes,
          .root = root,
          .outgoing = blocks(traits.in),
          .incoming = blocks(traits.out)};
}

}  // namespace huddle::select

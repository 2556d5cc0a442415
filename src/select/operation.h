// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What can be asked of a team, and one such request as far as the choice of an algorithm sees it:
// only what is equal on all ranks.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace huddle::select {

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
inline constexpr std::array<std::string_view, 17> operation_names = {
    "barrier",    "bcast",    "reduce",    "allreduce",      "allgather",
    "allgatherv", "alltoall", "alltoallv", "alltoallw",      "gather",
    "gatherv",    "scatter",  "scatterv",  "reduce_scatter", "reduce_scatter_block",
    "scan",       "exscan"};
inline constexpr std::array<Operation, operation_names.size()> operations = [] {
  std::array<Operation, operation_names.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Operation>(i);
  return all;
}();
constexpr std::string_view name(Operation operation) {
  return operation_names[static_cast<std::size_t>(operation)];
}

// By its name, or as MPI spells it: "bcast", "MPI_Bcast".
std::optional<Operation> operation_named(std::string_view word);

// Whether nobody knows how much moves but each pair of ranks for itself: nothing can be chosen by
// it.
constexpr bool is_known_to_pairs_only(Operation operation) {
  return operation == Operation::alltoallv || operation == Operation::alltoallw ||
         operation == Operation::gatherv || operation == Operation::scatterv;
}

// What an operation is whose blocks may differ, where they do not.
constexpr Operation regular_form(Operation operation) {
  switch (operation) {
    case Operation::allgatherv:
      return Operation::allgather;
    case Operation::alltoallv:
    case Operation::alltoallw:
      return Operation::alltoall;
    case Operation::gatherv:
      return Operation::gather;
    case Operation::scatterv:
      return Operation::scatter;
    case Operation::reduce_scatter:
      return Operation::reduce_scatter_block;
    case Operation::barrier:
    case Operation::bcast:
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::allgather:
    case Operation::alltoall:
    case Operation::gather:
    case Operation::scatter:
    case Operation::reduce_scatter_block:
    case Operation::scan:
    case Operation::exscan:
      return operation;
  }
  return operation;
}

// Whether elements are put together, and not only moved.
constexpr bool reduces(Operation operation) {
  switch (operation) {
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
    case Operation::scan:
    case Operation::exscan:
      return true;
    case Operation::barrier:
    case Operation::bcast:
    case Operation::allgather:
    case Operation::allgatherv:
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gather:
    case Operation::gatherv:
    case Operation::scatter:
    case Operation::scatterv:
      return false;
  }
  return false;
}

constexpr bool reduces_to_blocks(Operation operation) {
  return operation == Operation::reduce_scatter || operation == Operation::reduce_scatter_block;
}

struct Request {
  Operation operation = Operation::barrier;
  // Of one rank's data, in a reduction all of it; of one block where they are only moved, the
  // largest where they differ.
  std::size_t bytes = 0;
  std::size_t element_bytes = 1;  // of a reduction
  // Whether what the ranks hand in, all of them, lies where the others have mapped it.
  bool mapped = false;
  // Of a broadcast: whether its root is another than that of the one before. Then whoever receives
  // where it sent from writes lines that its readers still have cached.
  bool root_moved = false;

  bool operator==(const Request&) const = default;
};

// What all ranks hand in and what they want, all together.
constexpr std::size_t data_bytes(const Request& request, int ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  switch (request.operation) {
    case Operation::barrier:
      return 0;
    case Operation::bcast:
      return all * request.bytes;
    case Operation::reduce:
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return (all + 1) * request.bytes;
    case Operation::allreduce:
    case Operation::gather:
    case Operation::gatherv:
    case Operation::scatter:
    case Operation::scatterv:
    case Operation::scan:
    case Operation::exscan:
      return 2 * all * request.bytes;
    case Operation::allgather:
    case Operation::allgatherv:
      return (all + 1) * all * request.bytes;
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
      return 2 * all * all * request.bytes;
  }
  return 0;
}

// What one rank hands in and what it wants. Of what is reduced to blocks, where those are alike.
struct OwnData {
  double in_bytes = 0;
  double out_bytes = 0;
};
constexpr OwnData own_data(const Request& request, bool is_root, int ranks) {
  const auto bytes = static_cast<double>(request.bytes);
  const double all = bytes * ranks;
  switch (request.operation) {
    case Operation::barrier:
      return {};
    case Operation::bcast:
      return {is_root ? bytes : 0, is_root ? 0 : bytes};
    case Operation::reduce:
      return {bytes, is_root ? bytes : 0};
    case Operation::allreduce:
    case Operation::scan:
    case Operation::exscan:
      return {bytes, bytes};
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return {bytes, bytes / ranks};
    case Operation::allgather:
    case Operation::allgatherv:
      return {bytes, all};
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
      return {all, all};
    case Operation::gather:
    case Operation::gatherv:
      return {bytes, is_root ? all : 0};
    case Operation::scatter:
    case Operation::scatterv:
      return {is_root ? all : 0, bytes};
  }
  return {};
}

// A call of a benchmark: the elements of reductions are doubles, and what is reduced to blocks of
// so many bytes has a block for each rank.
constexpr Request request_of(Operation operation, std::size_t bytes, int ranks) {
  const bool in_blocks = reduces_to_blocks(operation);
  return {.operation = operation,
          .bytes = in_blocks ? bytes * static_cast<std::size_t>(ranks) : bytes,
          .element_bytes = reduces(operation) ? sizeof(double) : 1};
}

}  // namespace huddle::select

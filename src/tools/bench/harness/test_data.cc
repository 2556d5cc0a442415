// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/harness/harness.h"

#include <span>
#include <stdexcept>

namespace huddle::bench {
namespace {

using select::Operation;

std::span<std::byte> block(std::byte* buffer, const CallData& at, int number) {
  return {buffer + static_cast<std::size_t>(number) * at.bytes, at.bytes};
}

void fill_for_all(const CallData& at) {
  fill_words(block(at.input, at, 0), stamp_of(at.stamp, at.rank, 0));
}
void fill_for_each(const CallData& at) {
  for (int to = 0; to < at.ranks; ++to) {
    fill_words(block(at.input, at, to), stamp_of(at.stamp, at.rank, to));
  }
}
void fill_at_root_for_each(const CallData& at) {
  if (at.rank == at.root) fill_for_each(at);
}
void fill_at_root(const CallData& at) {
  if (at.rank == at.root) fill_words({at.output, at.bytes}, at.stamp);
}
void fill_numbers(const CallData& at) {
  bench::fill_numbers({at.input, at.bytes}, at.stamp, at.rank);
}
void fill_number_blocks(const CallData& at) {
  bench::fill_numbers({at.input, at.bytes * static_cast<std::size_t>(at.ranks)}, at.stamp, at.rank);
}

// Checks one block from each rank. `to` is the receiver in the stamps, or 0 if all ranks receive
// the same data.
bool has_blocks(const CallData& at, int to) {
  bool right = true;
  for (int from = 0; from < at.ranks; ++from) {
    right = right && has_words(block(at.output, at, from), stamp_of(at.stamp, from, to));
  }
  return right;
}
bool has_all(const CallData& at) { return has_blocks(at, 0); }
bool has_own_of_each(const CallData& at) { return has_blocks(at, at.rank); }
bool root_has_all(const CallData& at) { return at.rank != at.root || has_all(at); }
bool has_own_of_root(const CallData& at) {
  return has_words(block(at.output, at, 0), stamp_of(at.stamp, at.root, at.rank));
}
bool has_message(const CallData& at) { return has_words({at.output, at.bytes}, at.stamp); }
bool has_sums(const CallData& at) {
  return bench::has_sums({at.output, at.bytes}, at.stamp, at.ranks, 0);
}
bool root_has_sums(const CallData& at) { return at.rank != at.root || has_sums(at); }
bool has_sums_of_block(const CallData& at) {
  const std::size_t first = static_cast<std::size_t>(at.rank) * (at.bytes / sizeof(double));
  return bench::has_sums({at.output, at.bytes}, at.stamp, at.ranks, first);
}
bool has_sums_up_to_own(const CallData& at) {
  return bench::has_sums({at.output, at.bytes}, at.stamp, at.rank + 1, 0);
}
bool has_sums_before_own(const CallData& at) {
  return at.rank == 0 || bench::has_sums({at.output, at.bytes}, at.stamp, at.rank, 0);
}

}  // namespace

TestData test_data_of(Operation operation) {
  switch (operation) {
    case Operation::bcast:
      return {.fill = fill_at_root, .is_right = has_message};
    case Operation::reduce:
      return {.fill = fill_numbers, .is_right = root_has_sums};
    case Operation::allreduce:
      return {.fill = fill_numbers, .is_right = has_sums};
    case Operation::allgather:
    case Operation::allgatherv:
      return {.output_in_blocks = true, .fill = fill_for_all, .is_right = has_all};
    case Operation::alltoall:
    case Operation::alltoallv:
      return {.input_in_blocks = true,
              .output_in_blocks = true,
              .fill = fill_for_each,
              .is_right = has_own_of_each};
    case Operation::gather:
    case Operation::gatherv:
      return {.output_in_blocks = true, .fill = fill_for_all, .is_right = root_has_all};
    case Operation::scatter:
    case Operation::scatterv:
      return {.input_in_blocks = true, .fill = fill_at_root_for_each, .is_right = has_own_of_root};
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      return {.input_in_blocks = true, .fill = fill_number_blocks, .is_right = has_sums_of_block};
    case Operation::scan:
      return {.fill = fill_numbers, .is_right = has_sums_up_to_own};
    case Operation::exscan:
      return {.fill = fill_numbers, .is_right = has_sums_before_own};
    case Operation::barrier:
    case Operation::alltoallw:
      break;
  }
  throw std::runtime_error("huddle bench cannot time this operation");
}

}  // namespace huddle::bench

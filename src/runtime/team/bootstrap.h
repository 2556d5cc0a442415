// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The allgather that ranks use to set up a team, and helpers for collective error handling: each
// rank publishes whether its step succeeded, and either all ranks throw the same error or none
// does.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/calling_thread.h"

namespace huddle::team {

// Collective, with the same number of bytes on all ranks. Fills `all` with the bytes of each rank
// in rank order. Throws FailureError if a rank cannot be reached.
using Allgather = std::function<void(std::span<const std::byte> mine, std::span<std::byte> all)>;

struct Bootstrap {
  int rank = 0;
  int ranks = 1;
  Allgather allgather;
  // The NUMA nodes of sampled pages of this rank's data; empty if none were sampled. The ranks
  // exchange what follows from them, see placement_check.h.
  std::span<const int> page_nodes = {};
};

// The error message of one rank; empty if it has no error. Has a fixed size, so that ranks can
// exchange it by an allgather.
class RankError {
 public:
  RankError() = default;
  // Truncates `text` if it is too long.
  explicit RankError(std::string_view text);
  // Runs the step. Returns the text of the exception that it throws, or an empty RankError.
  template <class Step>
  static RankError of(Step&& step);
  // Returns the text prefixed with the rank: "rank 1: ...". Allocates no memory.
  static RankError of_rank(std::size_t rank, const RankError& rank_error);

  bool is_any() const { return text_[0] != '\0'; }
  std::string_view text() const;

 private:
  std::array<char, 200> text_{};
};

// A template because a std::function could allocate, and this must work when memory is exhausted.
template <class Step>
RankError RankError::of(Step&& step) {
  try {
    std::forward<Step>(step)();
    return {};
  } catch (const std::exception& error) {
    return RankError(error.what());
  } catch (const ThreadEnd&) {
    throw;
  } catch (...) {
    return RankError("a callback threw an exception that is not a std::exception");
  }
}

// Throws FailureError with the error of `rank`. Works even if memory is exhausted.
[[noreturn]] void throw_of(std::size_t rank, const RankError& rank_error);

// Throws FailureError with the error of the lowest rank that has one; returns if none has.
void throw_first(std::span<const RankError> by_rank);
// The same for a RankError that is a member of T. Allocates no memory if no rank has an error.
template <class T>
void throw_first(std::span<const T> by_rank, RankError T::*rank_error) {
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    if ((by_rank[rank].*rank_error).is_any()) throw_of(rank, by_rank[rank].*rank_error);
  }
}

// Calls `use` with an array of one T per rank, which is on the stack. Throws std::bad_alloc if
// there are more than 256 ranks. Not inlined, so that callers do not get its large frame.
template <class T, class Use>
[[gnu::noinline]] auto use_room_on_stack(std::size_t ranks, Use& use) {
  std::array<T, 256> few{};
  if (ranks > few.size()) throw std::bad_alloc();
  return use(std::span<T>(few).first(ranks));
}

// Calls `use` with an array of one T per rank. The array is on the heap because application threads
// may have small stacks. If memory is exhausted it is on the stack, so that the rank can still
// report its failure to the others.
template <class T, class Use>
auto with_room_by_rank(int ranks, Use&& use) {
  const auto count = static_cast<std::size_t>(ranks);
  if (const std::unique_ptr<T[]> room(new (std::nothrow) T[count]()); room) {
    return use(std::span<T>(room.get(), count));
  }
  return use_room_on_stack<T>(count, use);
}

// Collective. Gathers one value per rank into `all`, in rank order.
// Requires: T is the same on all ranks; `all` has one element per rank.
template <class T>
requires std::is_trivially_copyable_v<T>
void gather_to(std::span<T> all, const Bootstrap& bootstrap, const T& mine) {
  bootstrap.allgather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(all));
}
// The same into a new vector. If the allocation of the vector fails, this rank throws without
// taking part in the allgather, and the other ranks wait for it.
template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> gather(const Bootstrap& bootstrap,
                                                               const T& mine) {
  std::vector<T> all(static_cast<std::size_t>(bootstrap.ranks));
  gather_to(std::span(all), bootstrap, mine);
  return all;
}

// Collective. Runs the step and makes one allgather even if the step fails. Returns if the step
// succeeded on all ranks; otherwise all ranks throw the same FailureError.
template <class Step>
void agree(const Bootstrap& bootstrap, Step&& step) {
  throw_first(gather(bootstrap, RankError::of(std::forward<Step>(step))));
}
// The same without an allocation: `room` has one element per rank.
template <class Step>
void agree(std::span<RankError> room, const Bootstrap& bootstrap, Step&& step) {
  gather_to(room, bootstrap, RankError::of(std::forward<Step>(step)));
  throw_first(room);
}

}  // namespace huddle::team
